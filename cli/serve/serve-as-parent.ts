import { PROCESSES, SERVER } from '../../core/budgets.ts';
import type { Config } from '../../http/config/config.ts';
import { ConfigError } from '../../http/config/config-error.ts';
import { bindMetricsPort } from '../../http/connections/bound-server.ts';
import { createLog, type Log, type Logger } from '../../http/monitoring/log.ts';
import { createMetricsListener } from '../../http/monitoring/metrics-listener.ts';
import { EXIT } from '../exit-codes.ts';
import { endOnSignal, endWithParent } from './endings.ts';
import { createProcessMetrics } from './metrics-of-processes.ts';
import type { OneProcess } from './one-process.ts';
import type { Settings } from './open-server.ts';
import { type Processes, runProcesses } from './processes.ts';
import { warnOfSettings } from './warnings.ts';

/**
 * Serves one address with several processes. Each is a server that shares the database with the others. This process
 * accepts the connections for them, starts them again when they end, writes their log and combines their metrics.
 *
 * @param parent the id of a process: when it has ended, this process ends too; null for none
 * @throws ConfigError, ProcessError with a message for the operator
 */
export async function serveAsParent({ config, secrets }: Settings, parent: number | null): Promise<void> {
  if (secrets.databaseUrl === null) throw needsServer(config);
  requireConnections(config);
  const metricsPort = await bindMetricsPort(config);
  const output = createLog(config.logLevel, config.logFormat);
  const { log } = output;
  const metrics = createProcessMetrics(() => processes.ready());
  const processes = runProcesses(config.processes, {
    log,
    pass: output.pass,
    metrics: metrics.received,
    lost: metrics.lost,
  });
  metricsPort?.serve(createMetricsListener(metrics, log));
  const end = endInTwoSteps(processes, output, config);
  endOnSignal(end);
  if (parent !== null) endWithParent(parent, log, end);
  try {
    announce(await processes.started, config, log);
    if (!(await processes.over)) process.exitCode = EXIT.failed;
  } finally {
    metricsPort?.server.close();
    metricsPort?.server.closeAllConnections();
    await output.end();
  }
}

/** Tells the operator that all processes are ready. The list is empty if they were stopped before they were ready. */
function announce([first, ...others]: OneProcess[], config: Config, log: Logger): void {
  if (!first?.ready) return;
  warnOfSettings(config, log);
  const { origin, facts } = first.ready;
  log.info({ origin, ...facts, pid: process.pid, processes: [first, ...others].map(({ pid }) => pid) }, 'listening');
  log.flush();
  first.tell({ kind: 'greet' });
}

function needsServer({ processes }: Config): ConfigError {
  return new ConfigError(
    `--processes ${processes} (VALETKEY_PROCESSES) needs PostgreSQL, because only one process can write a database file: set DATABASE_URL to postgres://…, or use one process`,
  );
}

function requireConnections({ processes, connections }: Config): void {
  const writers = connections.writers ?? processes;
  if (writers < processes)
    throw new ConfigError(
      `--processes ${processes} (VALETKEY_PROCESSES) needs at least as many connections to the database: DATABASE_CONNECTIONS is ${writers}`,
    );
}

/**
 * Returns a function that asks the processes to stop when it is called first. If it is called again more than
 * `PROCESSES.sameSignalMs` later, it kills them. A second call before that is ignored, because npm and terminals send
 * the same signal twice.
 */
function endInTwoSteps(processes: Processes, { log, end }: Log, config: Config): (reason: object) => void {
  let firstAt: number | undefined;
  return (reason) => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      log.info(reason, 'stopping');
      processes.stop(config.shutdownDelayMs + SERVER.drainMs + PROCESSES.stopMarginMs);
    } else if (performance.now() - firstAt > PROCESSES.sameSignalMs) {
      log.warn(reason, 'stopping immediately');
      processes.kill();
      void end().then(() => process.exit(EXIT.failed));
    }
  };
}
