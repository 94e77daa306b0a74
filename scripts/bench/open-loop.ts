import type { BenchRequest } from './calls.ts';
import { openConnection } from './load.ts';
import { percentile } from './statistics.ts';

export interface OpenLoad {
  port: number;
  /** Requests per second. */
  rate: number;
  /** With `poisson`, requests arrive independently of each other, as those of many users do. */
  arrivals: 'constant' | 'poisson';
  seconds: number;
  token: string;
  status: number;
  request(): BenchRequest;
}

export interface OpenResult {
  /** Milliseconds from when a request should have been sent to its complete response. */
  p50: number;
  p99: number;
  p999: number;
  max: number;
  /** The 99th percentile of how late this process sent requests, in milliseconds; it is part of the times above. */
  late: number;
  /**
   * Requests whose response had an unexpected status, because an overloaded server rejects calls. The times above
   * include them.
   */
  refused: number;
  requests: number;
}

/** The maximum number of concurrent requests to a server that cannot keep up with the rate. */
const MAX_CONNECTIONS = 500;
/** In the last milliseconds before a request is due, the process polls the clock instead of setting a timer. */
const SPIN_MS = 1;

/**
 * Open loop: requests are sent when they are due, whether or not earlier ones have been responded to, as independent
 * callers do. A server that stops for 100 ms delays every request that is due in that time, which a closed loop would
 * not send.
 *
 * @throws Error if a connection ends
 */
export async function runOpenLoad(load: OpenLoad): Promise<OpenResult> {
  const due = arrivalTimes(load);
  const times = new Float64Array(due.length);
  const late = new Float64Array(due.length);
  const free: ReturnType<typeof openConnection>[] = [];
  const all: typeof free = [];
  const waiting: number[] = [];
  let left = due.length;
  let refused = 0;
  const done = Promise.withResolvers<void>();

  function send(index: number): void {
    const connection = free.pop() ?? (all.length < MAX_CONNECTIONS ? open() : undefined);
    if (connection === undefined) {
      waiting.push(index);
      return;
    }
    const dueAt = startedAt + (due[index] as number);
    late[index] = performance.now() - dueAt;
    connection.send(load.request(), load.token, ({ status }) => {
      if (status !== load.status) refused++;
      times[index] = performance.now() - dueAt;
      free.push(connection);
      if (--left === 0) done.resolve();
      const next = waiting.shift();
      if (next !== undefined) send(next);
    });
  }

  function open() {
    const connection = openConnection(load.port, done.reject);
    all.push(connection);
    return connection;
  }

  const startedAt = performance.now();
  let next = 0;
  const tick = () => {
    while (next < due.length) {
      const leftMs = startedAt + (due[next] as number) - performance.now();
      if (leftMs > 0) {
        // Timers are up to a millisecond late. In the last millisecond, each turn of the event loop checks the clock.
        if (leftMs > SPIN_MS) setTimeout(tick, leftMs - SPIN_MS);
        else setImmediate(tick);
        return;
      }
      send(next++);
    }
  };
  tick();
  try {
    await done.promise;
  } finally {
    for (const connection of all) connection.close();
  }
  times.sort();
  late.sort();
  const max = times.at(-1) ?? Number.NaN;
  return {
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    p999: percentile(times, 0.999),
    max,
    late: percentile(late, 0.99),
    refused,
    requests: due.length,
  };
}

/** Returns when each request is due, in milliseconds from the start; the same in every run. */
function arrivalTimes({ rate, arrivals, seconds }: OpenLoad): number[] {
  const times: number[] = [];
  const random = generator();
  const mean = 1000 / rate;
  for (let at = 0; at < seconds * 1000; ) {
    times.push(at);
    at += arrivals === 'constant' ? mean : -Math.log(1 - random()) * mean;
  }
  return times;
}

/** A small generator with a fixed seed (mulberry32), so that every server gets the same arrivals. */
function generator(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
