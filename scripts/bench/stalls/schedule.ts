import { readFileSync } from 'node:fs';

/**
 * How long a thread has waited for a processor so far, in milliseconds (Linux, Documentation/scheduler/sched-stats.rst): what a busy
 * machine adds to every measurement of time. 0 where the system does not tell.
 */
export function waitedMs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** Of the main thread of a process. */
export function mainThread(pid: number): string {
  return `/proc/${pid}/task/${pid}/schedstat`;
}
