import { StorageError } from '../../db/store.ts';
import type { startTimer, Timer } from '../scheduling/timers.ts';
import { type CountRun, measureRun } from './measure-run.ts';

/**
 * Work that each process repeats for itself, because it concerns the memory, the connections or the files of that
 * process.
 */
export interface ProcessJob {
  name: string;
  /** Milliseconds between two runs; if omitted, the job only runs after `soon`. */
  everyMs?: number;
  /** @param signal is aborted when the server stops */
  run(signal: AbortSignal): unknown;
  /** The message of the log for a failed run. */
  failure: string;
}

export interface ProcessJobDeps {
  startTimer: typeof startTimer;
  log: Record<'warn' | 'error', (fields: object, message: string) => void>;
  counted: CountRun;
}

/**
 * Starts jobs of this process on the real clock. A failed run is logged and counted; the next one follows at its time.
 * A failure of the storage is only a warning, because the requests that need the storage report it.
 */
export function createProcessJobs({ startTimer, log, counted }: ProcessJobDeps): (job: ProcessJob) => Timer {
  return ({ name, everyMs, run, failure }) =>
    startTimer((signal) => measureRun(name, counted, () => run(signal)), {
      ...(everyMs !== undefined && { everyMs }),
      failed: (err) => log[err instanceof StorageError ? 'warn' : 'error']({ job: name, err }, failure),
    });
}
