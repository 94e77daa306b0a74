import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { mainThread, type Schedule, scheduleOf } from './schedule.ts';

/** The longest waits among many requests for the health of the server, each sent when the one before had its response. */
export interface Longest {
  /** As a client saw it. */
  wallMs: number;
  /** Without the time in which the main thread of the server, or this thread, was ready and waited for a processor. */
  delayMs: number;
  /** The main thread of the server ran for this time during one wait: no other request could be served. */
  cpuMs: number;
  /** It neither ran nor waited for a processor, but for something else: a disk, a lock, another thread. */
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
  // A probe that is under way has waited at least so long.
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
