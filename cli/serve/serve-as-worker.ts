import cluster from 'node:cluster';
import { once } from 'node:events';
import { inBackground } from '../../core/scheduling/background.ts';
import { EXIT, isExpected } from '../exit-codes.ts';
import { offerConsole } from '../offer-console.ts';
import type { FromProcess, ToProcess } from './messages.ts';
import { printNextSteps } from './next-steps.ts';
import { describeServer, type OpenedServer, openServer, type Prepared, type Settings } from './open-server.ts';
import { shareOf } from './share.ts';

/** Serves as one of the processes that a parent has started. The process ends when its parent ends. */
export async function serveAsWorker({ config, secrets }: Settings): Promise<void> {
  const [start] = (await once(process, 'message')) as [Extract<ToProcess, { kind: 'start' }>];
  const own = { config: shareOf(config, start.place), secrets };
  let opened: OpenedServer;
  try {
    opened = await openServer(own, { bindsFirst: !start.isReplacement }, endWhenAsked);
  } catch (error) {
    if (!(error instanceof Error) || !isExpected(error)) throw error;
    // The parent prints the message once for all processes.
    tell({ kind: 'failed', message: error.message }, () => process.exit(EXIT.failed));
    return;
  }
  const { parts, firstStart, server } = opened;
  process.on('message', (message: ToProcess) => {
    if (message.kind === 'metrics') sendMetrics(opened, message.id);
    if (message.kind !== 'greet') return;
    const greet = async () => {
      await offerConsole(parts, firstStart);
      printNextSteps(server.origin, secrets.firstClient !== null, parts.isShared);
    };
    const unprinted = 'the address of the console could not be printed; `valetkey console` prints one';
    inBackground(greet, (err) => parts.log.warn({ err }, unprinted));
  });
  tell({ kind: 'ready', origin: server.origin, facts: await describeServer(parts, secrets) });
  inBackground(server.warmUp, (err) => parts.log.warn({ err }, 'warm-up failed, so the first requests may be slower'));
}

/**
 * Makes the process stop on SIGTERM, or when the parent has ended. Running requests may finish first. SIGINT and SIGHUP
 * are ignored, because a terminal sends them to the parent too, which then sends SIGTERM to every process.
 */
function endWhenAsked({ end }: Prepared): void {
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('SIGTERM', () => end({ signal: 'SIGTERM' }));
  cluster.worker?.on('disconnect', () => {
    // Otherwise Node ends the process immediately, with unfinished requests.
    if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
    end({ parent: process.ppid });
  });
}

function sendMetrics({ parts: { metrics, log } }: OpenedServer, id: number): void {
  const send = async () => tell({ kind: 'metrics', id, text: await metrics.registry.metrics() });
  inBackground(send, (err) => {
    log.error({ err }, 'the metrics of this process could not be collected');
    tell({ kind: 'metrics', id, text: null });
  });
}

/** Sends a message to the parent. If the parent has ended, this process ends anyway. */
function tell(message: FromProcess, sent: () => void = () => {}): void {
  process.send?.(message, undefined, undefined, sent);
}
