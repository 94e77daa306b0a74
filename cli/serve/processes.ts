import { setTimeout as sleep } from 'node:timers/promises';
import { PROCESSES } from '../../core/budgets.ts';
import type { Logger } from '../../http/monitoring/log.ts';
import type { FromProcess } from './messages.ts';
import { type Ended, type OneProcess, startProcess } from './one-process.ts';

/** The processes of a server did not start, or ended again and again. The message is for the operator. */
export class ProcessError extends Error {
  override name = 'ProcessError';
}

export interface Processes {
  /**
   * Resolves with the processes when all of them are ready, or with an empty list if they were stopped before that.
   *
   * @throws ProcessError as `over` does
   */
  readonly started: Promise<OneProcess[]>;
  /**
   * Resolves when all processes have stopped: with true if each process that had become ready exited with code 0 after
   * the request to stop, otherwise with false.
   *
   * @throws ProcessError when the processes cannot be started, or when one keeps ending while no other is ready
   */
  readonly over: Promise<boolean>;
  /** Returns the processes that are ready. */
  ready(): OneProcess[];
  /** Asks all processes to stop, and starts no more. Those that still run after the limit are killed. */
  stop(limitMs: number): void;
  /** Kills all processes. */
  kill(): void;
}

interface Watch {
  log: Pick<Logger, 'error' | 'info'>;
  /** Receives complete lines of the logs of the processes. */
  pass(lines: string): void;
  metrics(message: Extract<FromProcess, { kind: 'metrics' }>): void;
  /** Is called for each process that ended although it was not asked to. */
  lost(): void;
}

/** The parts that tests replace. */
interface Means {
  start: typeof startProcess;
  pause(ms: number, signal: AbortSignal): Promise<unknown>;
}

const MEANS: Means = { start: startProcess, pause: (ms, signal) => sleep(ms, undefined, { signal }) };

/**
 * Starts the processes of a server, and starts each again when it ends. The pause before the next start grows while
 * starts fail.
 *
 * @param count the number of processes
 */
export function runProcesses(
  count: number,
  { log, pass, metrics, lost }: Watch,
  { start, pause }: Means = MEANS,
): Processes {
  const ending = new AbortController();
  const running = new Set<OneProcess>();
  const started = Promise.withResolvers<OneProcess[]>();
  let hasStarted = false;
  let failure: ProcessError | undefined;
  let isInOrder = true;

  const ready = () => [...running].filter((one) => one.ready !== null);

  function announce(): void {
    const all = ready();
    if (all.length < count || hasStarted) return;
    hasStarted = true;
    started.resolve(all);
  }

  async function runOne(place: number, isReplacement: boolean): Promise<Ended> {
    const listeners = { ready: announce, metrics, log: pass };
    let one: OneProcess;
    try {
      one = start({ kind: 'start', place, isReplacement }, listeners);
    } catch (error) {
      return { code: null, signal: null, wasReady: false, readyMs: 0, failure: (error as Error).message };
    }
    running.add(one);
    const ended = await one.ended;
    running.delete(one);
    return ended;
  }

  /** Starts the process with this number, and starts it again each time it ends, until the server stops. */
  async function keepRunning(place: number): Promise<void> {
    for (let failures = 0, isReplacement = false; !ending.signal.aborted; isReplacement = true) {
      const ended = await runOne(place, isReplacement && hasStarted);
      if (ending.signal.aborted) {
        isInOrder &&= !ended.wasReady || ended.code === 0;
        return;
      }
      lost();
      failures = ended.readyMs >= PROCESSES.steadyMs ? 1 : failures + 1;
      const reason = reasonToGiveUp(place, ended, failures);
      if (reason !== null) return giveUp(reason);
      const pauseMs = Math.min(PROCESSES.longestDelayMs, PROCESSES.firstDelayMs * 2 ** (failures - 1));
      const { code, signal, failure: reported } = ended;
      const facts = { process: place, code, signal, pause_ms: pauseMs, ...(reported && { reason: reported }) };
      log.error(facts, 'a process has ended; it is started again');
      await pause(pauseMs, ending.signal).catch(() => {});
    }
  }

  /** Returns why no further process is started; null to start another one. */
  function reasonToGiveUp(place: number, ended: Ended, failures: number): string | null {
    // The process has reported why it cannot start, such as a wrong setting, so another attempt would fail too.
    if (!hasStarted && ended.failure !== undefined) return ended.failure;
    if (failures < PROCESSES.failedStarts || (hasStarted && ready().length > 0)) return null;
    const how = ended.failure ?? (ended.signal ? `signal ${ended.signal}` : `exit code ${ended.code}`);
    return `process ${place} ended ${failures} times in a row, the last time with: ${how}`;
  }

  function giveUp(reason: string): void {
    failure ??= new ProcessError(reason);
    stop(PROCESSES.stopMarginMs);
  }

  function stop(limitMs: number): void {
    if (ending.signal.aborted) return;
    ending.abort();
    for (const one of running) one.kill('SIGTERM');
    setTimeout(kill, limitMs).unref();
  }

  function kill(): void {
    for (const one of running) one.kill('SIGKILL');
  }

  const places = Array.from({ length: count }, (_, index) => keepRunning(index + 1));
  const over = Promise.all(places).then(() => {
    if (failure) {
      started.reject(failure);
      throw failure;
    }
    started.resolve([]);
    return isInOrder;
  });
  for (const promise of [over, started.promise]) promise.catch(() => {});
  return { started: started.promise, over, ready, stop, kill };
}
