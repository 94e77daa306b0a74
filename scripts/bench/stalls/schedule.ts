import { readFileSync } from 'node:fs';

/** Times of a thread so far, in milliseconds. */
export interface Schedule {
  /** It ran for this time. */
  cpuMs: number;
  /** It was ready to run and waited for a processor for this time, because the machine was busy. */
  waitedMs: number;
}

/**
 * Reads the schedule of a thread (Linux, Documentation/scheduler/sched-stats.rst).
 *
 * @param path of its `schedstat` file
 * @returns null where the system has none
 */
export function scheduleOf(path: string): Schedule | null {
  try {
    const [cpu, waited] = readFileSync(path, 'utf8').split(' ');
    return { cpuMs: Number(cpu) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return null;
  }
}

/** Of the main thread of a process. */
export function mainThread(pid: number): string {
  return `/proc/${pid}/task/${pid}/schedstat`;
}
