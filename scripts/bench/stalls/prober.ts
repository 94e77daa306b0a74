import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { mainThread, waitedMs } from './schedule.ts';

/**
 * Asks the server for its health over and over on a connection of its own, and keeps the longest wait: so long could no request be
 * served. What the machine made the server or this thread wait for a processor is not counted.
 */
export interface Longest {
  /** As a client saw it. */
  wallMs: number;
  /** Without what the machine added. */
  adjustedMs: number;
  probes: number;
}

const { port, pid } = workerData as { port: number; pid: number };
const PAUSE_MS = 2;
const REQUEST = `GET /healthz HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`;
const OWN = '/proc/thread-self/schedstat';

let longest: Longest = { wallMs: 0, adjustedMs: 0, probes: 0 };
let startedAt = 0;
let waited = 0;
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
  longest = { wallMs: 0, adjustedMs: 0, probes: 0 };
  startedAt = performance.now();
  waited = waits();
});

function probe(): void {
  probing = true;
  startedAt = performance.now();
  waited = waits();
  socket.write(REQUEST);
}

function keep(): void {
  probing = false;
  const wallMs = performance.now() - startedAt;
  const adjustedMs = Math.max(0, wallMs - (waits() - waited));
  longest.probes++;
  longest.wallMs = Math.max(longest.wallMs, wallMs);
  longest.adjustedMs = Math.max(longest.adjustedMs, adjustedMs);
}

function waits(): number {
  return waitedMs(mainThread(pid)) + waitedMs(OWN);
}
