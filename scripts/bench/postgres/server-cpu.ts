import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kernel counts processor time in hundredths of a second. */
const TICK_MICROSECONDS = 10_000;

/** Returns the processor time of a PostgreSQL server and all its processes so far, in microseconds. */
export function serverCpu(dataDirectory: string): number {
  const [line = ''] = readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n');
  const postmaster = Number(line);
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const fields = statOf(name);
    if (!fields) continue;
    const isPostmaster = Number(name) === postmaster;
    if (!isPostmaster && Number(fields[1]) !== postmaster) continue;
    // The times of processes that have ended are part of the postmaster's.
    const times = isPostmaster ? fields.slice(11, 15) : fields.slice(11, 13);
    for (const time of times) ticks += Number(time);
  }
  return ticks * TICK_MICROSECONDS;
}

/**
 * Returns the fields of `/proc/<pid>/stat` that follow the name of the process; the first one is its state. The name
 * is in parentheses and may contain spaces.
 */
function statOf(pid: string): string[] | null {
  try {
    return readFileSync(join('/proc', pid, 'stat'), 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
  } catch {
    return null;
  }
}
