import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { mainThread, type Schedule, scheduleOf } from './schedule.ts';

/** The longest waits among many health requests to the server; each is sent after the previous response. */
export interface Longest {
  /** The wait as seen by a client. */
  wallMs: number;
  /**
   * The wait without the time in which the server's main thread, or this thread, was ready and waited for a processor.
   */
  delayMs: number;
  /** How long the server's main thread ran during one wait, so that it could not handle other requests. */
  cpuMs: number;
  /** How long the main thread waited for something other than a processor: a disk, a lock or another thread. */
  idleMs: number;
}

const { port, pid } = workerData as { port: number; pid: number };
const PAUSE_MS = 2;
const REQUEST = `GET /healthz HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;
const OWN = '/proc/thread-self/schedstat';

interface Mark {
  at: number;
  server: Schedule | null;
  own: Schedule | null;
}

let longest = nothing();
let start = mark();
let probing = false;

const socket = connect(port, '127.0.0.1', probe);
socket.on('data', (data) => {
  if (!data.includes('HTTP/1.1 ')) return;
  keep();
  setTimeout(probe, PAUSE_MS);
});
socket.on('error', () => {});

parentPort?.on('message', () => {
  // The request that is waiting for its response has waited at least this long.
  if (probing) keep();
  parentPort?.postMessage(longest);
  longest = nothing();
  start = mark();
});

function between(from: Mark, to: Mark): Longest {
  const wallMs = to.at - from.at;
  if (!from.server || !from.own || !to.server || !to.own) return { wallMs, delayMs: wallMs, cpuMs: wallMs, idleMs: 0 };
  const waitedMs = to.server.waitedMs - from.server.waitedMs + to.own.waitedMs - from.own.waitedMs;
  const delayMs = Math.max(0, wallMs - waitedMs);
  const cpuMs = Math.min(wallMs, to.server.cpuMs - from.server.cpuMs);
  return { wallMs, delayMs, cpuMs, idleMs: Math.max(0, delayMs - cpuMs) };
}

function nothing(): Longest {
  return { wallMs: 0, delayMs: 0, cpuMs: 0, idleMs: 0 };
}

function mark(): Mark {
  return { at: performance.now(), server: scheduleOf(mainThread(pid)), own: scheduleOf(OWN) };
}

function probe(): void {
  probing = true;
  start = mark();
  socket.write(REQUEST);
}

function keep(): void {
  probing = false;
  const measured = between(start, mark());
  for (const key of ['wallMs', 'delayMs', 'cpuMs', 'idleMs'] as const) {
    longest[key] = Math.max(longest[key], measured[key]);
  }
}
