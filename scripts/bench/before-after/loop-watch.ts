import { appendFileSync, openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

/** A delay of the event loop. Each is written as a JSON line to the file that `LOOP_WATCH_FILE` names. */
export interface Stop {
  /** When the delay ended, in milliseconds since the Unix epoch. */
  at: number;
  /** How late the event loop was, in milliseconds. */
  lateMs: number;
  /** How long the main thread ran in this time. */
  ranMs: number;
  /**
   * How long the main thread was ready to run but had no processor. For the rest of the time it waited for something
   * else, such as the disk.
   */
  queuedMs: number;
  /** How long garbage collection took in this time. */
  collectedMs: number;
}

const EVERY_MS = 5;
/** Shorter delays are not recorded, because timers are always up to a millisecond late. */
const SHOWN_FROM_MS = 4;
const BYTES = Buffer.alloc(100);

/**
 * Loaded by `--import` into a server of any version. Records when its event loop is late, and how long the main thread
 * ran and waited for a processor in that time. On systems without Linux's `/proc`, both times are zero.
 */
function watch(file: string): void {
  const schedule = openSchedule();
  let collectedMs = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) collectedMs += duration;
  }).observe({ entryTypes: ['gc'] });
  let dueAt = performance.now() + EVERY_MS;
  let [ran, queued] = schedule();
  const look = () => {
    const now = performance.now();
    const [ranNow, queuedNow] = schedule();
    const lateMs = now - dueAt;
    if (lateMs >= SHOWN_FROM_MS) {
      const [ranMs, queuedMs] = [ranNow - ran, queuedNow - queued];
      // Node reports garbage collections one turn of the event loop after they have happened.
      setImmediate(() => {
        const stop: Stop = { at: performance.timeOrigin + now, lateMs, ranMs, queuedMs, collectedMs };
        appendFileSync(file, `${JSON.stringify(stop)}\n`);
        collectedMs = 0;
      });
    } else collectedMs = 0;
    dueAt = now + EVERY_MS;
    [ran, queued] = [ranNow, queuedNow];
    setTimeout(look, EVERY_MS).unref();
  };
  setTimeout(look, EVERY_MS).unref();
}

/** Returns a function that reads how long the main thread has run, and has waited for a processor, in milliseconds. */
function openSchedule(): () => [number, number] {
  let descriptor: number;
  try {
    descriptor = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  } catch {
    return () => [0, 0];
  }
  return () => {
    const [ran, queued] = BYTES.toString('latin1', 0, readSync(descriptor, BYTES, 0, BYTES.length, 0)).split(' ');
    return [Number(ran) / 1e6, Number(queued) / 1e6];
  };
}

const file = process.env['LOOP_WATCH_FILE'];
if (file) watch(file);
