import { readConfig } from '../http/config.ts';
import type { FirstStart } from '../http/create-deps.ts';
import { createDeps } from '../http/create-deps.ts';
import type { Deps } from '../http/deps.ts';
import { startServer } from '../http/server.ts';

/** Starts the server and keeps it running until SIGTERM or SIGINT. */
export async function serveCommand(): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  const { deps, firstStart } = await createDeps(config, secrets);
  const server = await startServer(deps);
  warnOfPermissions(deps);
  deps.log.info({ origin: server.origin, base_url: config.baseUrl, pid: process.pid }, 'listening');
  deps.log.flush();
  printNextSteps(server.origin, firstStart);

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

/** For the person at the terminal; machines read the log lines. */
function printNextSteps(origin: string, { keyFile, client }: FirstStart): void {
  const lines: string[] = [];
  if (keyFile)
    lines.push(
      `A key-encryption key was made: ${keyFile}`,
      'Keep a copy apart from the database. Without it the credentials are lost.',
      '',
    );
  if (client) {
    lines.push('A first API client with all scopes was made. Its secret is shown this once:', '');
    lines.push(
      `  export VALETKEY_CLIENT_ID=${client.id}`,
      `  export VALETKEY_CLIENT_SECRET=${client.secret.reveal()}`,
      '',
    );
    lines.push('Next, get a token:', '');
    lines.push(`  curl -s ${origin}/oauth/token -d grant_type=client_credentials \\`);
    lines.push('    -d client_id=$VALETKEY_CLIENT_ID -d client_secret=$VALETKEY_CLIENT_SECRET', '');
  }
  lines.push(`The API reference is at ${origin}/docs; README.md goes on from here.`);
  process.stderr.write(`\n${lines.join('\n')}\n\n`);
}
