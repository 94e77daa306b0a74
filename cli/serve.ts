import { readConfig } from '../http/config.ts';
import type { FirstStart } from '../http/create-deps.ts';
import { createDeps } from '../http/create-deps.ts';
import type { Deps } from '../http/deps.ts';
import { startServer } from '../http/server.ts';
import { UsageError } from './usage-error.ts';

/** Starts the server and keeps it running until SIGTERM or SIGINT. */
export async function serveCommand(args: string[]): Promise<void> {
  if (args.length > 0) throw new UsageError('takes no arguments; environment variables configure it');
  const { config, secrets } = readConfig(process.env);
  const { deps, firstStart } = await createDeps(config, secrets);
  printFirstStart(firstStart);
  const server = await startServer(deps);
  warnOfPermissions(deps);
  deps.log.info({ origin: server.origin, base_url: config.baseUrl, pid: process.pid }, 'listening');
  deps.log.flush();
  printNextSteps(server.origin, Boolean(firstStart.client ?? secrets.firstClient));

  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    deps.log.info({ signal }, 'stopping');
    void server.stop().then(() => process.exit(0));
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  // A broken invariant must not leave a half-alive process: say why, then let the supervisor start anew.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      deps.log.fatal({ err: error }, event);
      deps.log.flush();
      process.exit(1);
    });
  }
}

function warnOfPermissions({ config, log }: Deps): void {
  if (config.egressAllow)
    log.warn({ allow: config.egressAllow }, 'development environments may reach these local addresses');
  if (config.endpointOverrides)
    log.warn({ overrides: config.endpointOverrides }, 'development environments call these origins locally');
}

/** For the person at the terminal; machines read the log lines. What is shown once is shown before anything else can fail. */
function printFirstStart({ keyFile, client }: FirstStart): void {
  if (keyFile)
    print(
      `A key-encryption key was made: ${keyFile}`,
      'Keep a copy apart from the database. Without it the credentials are lost.',
    );
  if (client)
    print(
      'A first API client with all scopes was made. Its secret is shown this once; paste it into the next terminal:',
      '',
      `  export VALETKEY_CLIENT_ID=${client.id}`,
      `  export VALETKEY_CLIENT_SECRET=${client.secret.reveal()}`,
    );
}

function printNextSteps(origin: string, hasClientAtHand: boolean): void {
  if (!hasClientAtHand)
    print(
      'The API clients of earlier starts are in use. Without the secret of one at hand, start once with a',
      'VALETKEY_CLIENT_ID and a VALETKEY_CLIENT_SECRET of your own: that client is added.',
    );
  print(
    'Next, in another terminal (the quickstart of README.md goes on from here):',
    '',
    `  TOKEN=$(curl -s ${origin}/oauth/token -d grant_type=client_credentials \\`,
    '    -d "client_id=$VALETKEY_CLIENT_ID" -d "client_secret=$VALETKEY_CLIENT_SECRET" \\',
    `    | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `  curl -s ${origin}/api/v1/providers -H "Authorization: Bearer $TOKEN"`,
    '',
    `The API reference is at ${origin}/docs`,
  );
}

function print(...lines: string[]): void {
  process.stderr.write(`\n${lines.join('\n')}\n`);
}
