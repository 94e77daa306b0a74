import type { Command } from '@commander-js/extra-typings';
import { programVersion } from '../../core/program-version.ts';
import { inBackground } from '../../core/scheduling/background.ts';
import { startTimer } from '../../core/scheduling/timers.ts';
import type { Config, Secrets } from '../../http/config/config.ts';
import { databaseName, readConfig } from '../../http/config/config.ts';
import { unknownSettings } from '../../http/config/unknown-settings.ts';
import { bindPorts } from '../../http/connections/bound-server.ts';
import type { Logger } from '../../http/monitoring/log.ts';
import { type RunningServer, startServer } from '../../http/server.ts';
import { createApplication } from '../../wiring/create-application.ts';
import type { Parts } from '../../wiring/parts.ts';
import { print, printFirstStart } from '../first-start.ts';
import { endOnUnhandledFault } from '../last-resort.ts';
import { offerConsole } from '../offer-console.ts';
import { examples } from '../output/print.ts';

/** The maximum number of environments in the log line of a start. */
const ENVIRONMENTS_SHOWN = 20;
const PARENT_CHECK_MS = 1_000;

/** `valetkey serve` */
export function configure(command: Command): void {
  command
    .description(
      'Start the server, and keep it running until SIGTERM, SIGINT or SIGHUP. Logs are JSON, or lines on a terminal (LOG_FORMAT).',
    )
    .option('--with-parent', 'stop when the process that started the server ends')
    .addHelpText('after', examples('serve', 'serve --env-file .env'))
    .action(serve);
}

async function serve({ withParent }: { withParent?: true | undefined }): Promise<void> {
  const parent = process.ppid;
  const { config, secrets } = readConfig(process.env);
  const ports = await bindPorts(config);
  const { parts, firstStart } = await createApplication(config, secrets).catch((error) => {
    ports.close();
    throw error;
  });
  let server: RunningServer | undefined;
  const stop = async () => (server ? server.stop() : parts.close());
  // Registered before the server reports that it listens, because it may be stopped right after that.
  endOnUnhandledFault(parts.log, stop);
  const end = endOnce(parts.log, stop);
  stopOnSignal(end);
  if (withParent) stopWithParent(parent, parts.log, end);
  printFirstStart(firstStart);
  server = await startServer(parts, ports).catch(async (error) => {
    ports.close();
    await parts.close();
    throw error;
  });
  for (const warning of unknownSettings(process.env)) parts.log.warn(warning);
  warnOfPermissions(parts);
  parts.log.info({ origin: server.origin, ...(await describeServer(parts, secrets)) }, 'listening');
  parts.log.flush();
  inBackground(server.warmUp, (err) => parts.log.warn({ err }, 'could not be prepared in advance'));
  await offerConsole(parts, firstStart);
  printNextSteps(server.origin, Boolean(firstStart.client ?? secrets.firstClient));
}

/** Returns the facts that an operator checks after a start: the version, the data, the key and the addresses. */
async function describeServer({ config, store, vault }: Parts, secrets: Secrets) {
  const environments = await store.read.environments.list();
  return {
    base_url: config.baseUrl,
    version: programVersion(),
    database: databaseName(config, secrets),
    key_id: vault.activeKeyId,
    environments: environments.map(({ kind, baseUrl }) => `${kind} ${baseUrl}`).slice(0, ENVIRONMENTS_SHOWN),
    pid: process.pid,
  };
}

/** Returns a function that ends the process in order, once. It takes the reason for the log. */
function endOnce(log: Logger, stop: () => Promise<void>): (reason: object) => void {
  let isStopping = false;
  return (reason) => {
    if (isStopping) return;
    isStopping = true;
    log.info(reason, 'stopping');
    // An error while stopping is handled like any unhandled error and ends the process with 1.
    void stop().then(() => process.exit(0));
  };
}

/** SIGHUP is sent when a terminal is closed. Node does not keep that it was ignored (nohup), so it would end the process. */
function stopOnSignal(end: (reason: object) => void): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => end({ signal }));
}

/** npm passes on SIGTERM and SIGINT only, and no process can pass on SIGKILL. A process without a parent gets another one. */
function stopWithParent(parent: number, log: Logger, end: (reason: object) => void): void {
  const check = () => {
    if (process.ppid !== parent) end({ parent });
  };
  startTimer(check, {
    everyMs: PARENT_CHECK_MS,
    failed: (err) => log.error({ err }, 'the parent could not be checked'),
  });
}

function warnOfPermissions({ config, log }: { config: Config; log: Logger }): void {
  if (config.egressAllow)
    log.warn({ allow: config.egressAllow }, 'development environments may reach these local addresses');
  if (config.endpointOverrides)
    log.warn({ overrides: config.endpointOverrides }, 'development environments call these origins locally');
}

function printNextSteps(origin: string, hasClientAtHand: boolean): void {
  if (!hasClientAtHand)
    print(
      'An API client already exists. If you do not have its secret, start once with a',
      'VALETKEY_CLIENT_ID and VALETKEY_CLIENT_SECRET: the server then adds that client.',
    );
  print(
    'Next, in another terminal (the quickstart of README.md continues from here):',
    '',
    `  TOKEN=$(curl -s ${origin}/oauth/token -d grant_type=client_credentials \\`,
    '    -d "client_id=$VALETKEY_CLIENT_ID" -d "client_secret=$VALETKEY_CLIENT_SECRET" \\',
    `    | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    `  curl -s ${origin}/api/v1/providers -H "Authorization: Bearer $TOKEN"`,
    '',
    `The API reference is at ${origin}/docs, and the guides are at ${origin}/docs/guides`,
  );
}
