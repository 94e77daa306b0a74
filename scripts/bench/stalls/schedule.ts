import { readFileSync } from 'node:fs';

/** The times of a thread so far, in milliseconds. */
export interface Schedule {
  /** How long the thread ran. */
  cpuMs: number;
  /** How long the thread was ready and waited for a processor, because the machine was busy. */
  waitedMs: number;
}

/**
 * Reads the scheduler statistics of a thread (Linux, Documentation/scheduler/sched-stats.rst).
 *
 * @param path of its `schedstat` file
 * @returns null if the system has none
 */
export function scheduleOf(path: string): Schedule | null {
  try {
    const [cpu, waited] = readFileSync(path, 'utf8').split(' ');
    return { cpuMs: Number(cpu) / 1e6, waitedMs: Number(waited) / 1e6 };
  } catch {
    return null;
  }
}

/** Returns the path of the `schedstat` file of a process's main thread. */
export function mainThread(pid: number): string {
  return `/proc/${pid}/task/${pid}/schedstat`;
}
