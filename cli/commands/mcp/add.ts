import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Argument, type Command } from '@commander-js/extra-typings';
import { InvalidArgumentError } from 'commander';
import { escapeControls } from '../../../core/text/escape-controls.ts';
import { openApi, resultOf } from '../../api/client.ts';
import { withServer } from '../../api/options.ts';
import { examples, note, printResult, shown } from '../../output/print.ts';
import { UsageError } from '../../usage-error.ts';
import { connectionId } from '../connections/find-connection.ts';
import { addServer, configOf } from './client-config.ts';
import { CLIENT_NAMES, CLIENTS, type McpClient } from './clients.ts';

/** `valetkey mcp add`: prints or writes what an MCP client needs to use the tools of a connection. */
export function configure(command: Command): void {
  withServer(
    command
      .addArgument(new Argument('<client>', 'the MCP client').choices(CLIENT_NAMES))
      .argument(
        '<server>',
        'the address of an MCP server; or, read from the API, a connection or the id of an MCP config',
      )
      .option('--name <name>', 'the name of the server in the client', serverName, 'valetkey')
      .option('--write', 'add it to the file of the client, instead of printing it'),
  )
    .addHelpText(
      'after',
      examples(
        'mcp add claude-code https://keys.example.com/mcp/conn_01k6p4a2b3c4d5e6f7g8h9j0km',
        'mcp add cursor github --name github --write',
      ),
    )
    .action(async (name, server, options) => {
      const client: McpClient = CLIENTS[name];
      const url = await addressOf(server, options);
      const config = configOf(client, options.name, url);
      const file = resolve(client.file);
      if (options.write) write(file, client, options.name, url);
      const written = options.write === true;
      printResult(options, { client: name, file, url, config, written }, () =>
        written ? shown`Added ${options.name} to ${file}.` : config.split('\n').map(escapeControls).join('\n'),
      );
      if (options.json) return;
      if (!written) note`Add this to ${file}, or use --write.`;
      note`${client.next}`;
    });
}

async function addressOf(server: string, options: { server?: string | undefined }): Promise<string> {
  if (URL.canParse(server)) {
    const { protocol, username, password, href } = new URL(server);
    if (/^https?:$/.test(protocol) && !username && !password) return href;
    throw new UsageError('<server> must be an http or https URL without a user name or password');
  }
  const api = openApi(options);
  if (server.startsWith('mcp_')) {
    const params = { path: { config_id: server } };
    return (await resultOf(api.GET('/api/v1/mcp/configs/{config_id}', { params }))).config.mcp_server_url;
  }
  const connection_id = (await connectionId(api, server)) ?? server;
  const { connection } = await resultOf(
    api.GET('/api/v1/connections/{connection_id}', { params: { path: { connection_id } } }),
  );
  return connection.mcp_server_url;
}

/** Replaces the file in one step, so that an interruption leaves the old one. */
function write(file: string, client: McpClient, name: string, url: string): void {
  const target = existsSync(file) ? realpathSync(file) : file;
  const before = existsSync(target) ? readFileSync(target, 'utf8') : '';
  const text = addServer(client, before, name, url);
  mkdirSync(dirname(target), { recursive: true });
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o600;
  const temporary = `${target}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode, flag: 'wx' });
  renameSync(temporary, target);
}

function serverName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$/.test(text)) return text;
  throw new InvalidArgumentError('It must have 1 to 60 letters, digits, - and _, and begin with a letter or digit.');
}
