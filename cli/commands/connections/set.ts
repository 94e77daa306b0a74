import { type Command, Option } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { ORGANIZATION, withServer } from '../../api/options.ts';
import { readSecret, SECRET_FILE, SECRET_PROMPT } from '../../api/secret-input.ts';
import { repeated, wholeNumber } from '../../options.ts';
import { examples, printResult } from '../../output/print.ts';
import { UsageError } from '../../usage-error.ts';
import { connectionId, describeConnection } from './find-connection.ts';

const CHOICES = ['on', 'off'] as const;

/** `valetkey connections set`: changes a connection; with `--connector`, creates it if no connection has the name. */
export function configure(command: Command): void {
  withServer(
    command
      .argument('<connection>', 'the id or the name of the connection')
      .option('--connector <identifier>', 'create the connection for this provider if it does not exist')
      .option('--client-id <id>', 'the client that you registered at the provider')
      .addOption(SECRET_PROMPT)
      .addOption(SECRET_FILE)
      .option('--scope <scope>', 'a scope that users are asked for; can be repeated', repeated)
      .option('--allow-tool <name>', 'allow only this tool; can be repeated', repeated)
      .addOption(new Option('--allow-all-tools', 'allow all tools').conflicts('allowTool'))
      .addOption(new Option('--trace-context <choice>', 'send the provider the trace of each call').choices(CHOICES))
      .option('--mcp-timeout <seconds>', 'how long to wait for an MCP server, 1 to 300', wholeNumber(1, 300))
      .addOption(ORGANIZATION)
      .option('--enable', 'enable the connection')
      .addOption(new Option('--disable', 'disable the connection').conflicts('enable')),
  )
    .addHelpText(
      'after',
      examples(
        'connections set github --connector github --client-id Iv1.8a61f9b3a7aba766 --client-secret',
        'connections set github --client-secret-file /run/secrets/github',
        'connections set github --allow-tool github_list_issues --allow-tool github_get_issue',
        'connections set acme-mcp --mcp-timeout 120 --trace-context on',
      ),
    )
    .action(async (name, options) => {
      const secret = await readSecret(options);
      const settings = {
        ...(options.clientId !== undefined && { client_id: options.clientId }),
        ...(secret !== undefined && { client_secret: secret.reveal() }),
        ...(options.scope && { scopes: options.scope }),
        ...(options.allowTool && { allowed_tools: options.allowTool }),
        ...(options.allowAllTools && { allowed_tools: null }),
        ...(options.traceContext && { send_trace_context: options.traceContext === 'on' }),
        ...(options.mcpTimeout !== undefined && { mcp_timeout_seconds: options.mcpTimeout }),
        ...(options.organization !== undefined && { organization_id: options.organization }),
        ...((options.enable || options.disable) && { enabled: options.enable === true }),
      };
      const api = openApi(options);
      const connection_id = await connectionId(api, name);
      const { connection } = await resultOf(
        connection_id === undefined
          ? api.POST('/api/v1/connections', {
              body: { ...settings, connector: connectorOf(name, options), key_id: name },
            })
          : api.PUT('/api/v1/connections/{connection_id}', {
              params: { path: { connection_id } },
              body: requireSome(settings),
            }),
      );
      printResult(options, connection, () => describeConnection(connection));
    });
}

function connectorOf(name: string, { connector }: { connector?: string | undefined }): string {
  if (connector !== undefined) return connector;
  throw new UsageError(`there is no connection "${name}"; --connector creates it`);
}

function requireSome<Settings extends object>(settings: Settings): Settings {
  if (Object.keys(settings).length > 0) return settings;
  throw new UsageError('give at least one setting, for example --client-id');
}
