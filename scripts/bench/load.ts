import { connect, type Socket } from 'node:net';
import type { BenchRequest } from './calls.ts';
import { percentile } from './statistics.ts';

export interface Load {
  port: number;
  connections: number;
  /**
   * The average pause in milliseconds between a response and the next request of its connection. Pauses vary between
   * 0.5 and 1.5 times this value.
   */
  pauseMs: number;
  seconds: number;
  /** Seconds of load before requests are counted. */
  warmUpSeconds: number;
  token: string;
  request(): BenchRequest;
  /** The expected status; any other status ends the run. */
  status: number;
  /** Called when the counted time begins and when it ends. */
  onCounted(): void;
}

export interface LoadResult {
  requests: number;
  perSecond: number;
  p50: number;
  p99: number;
}

/**
 * Loads the server over keep-alive connections, and measures the times of responses. Each connection sends its next
 * request when the response to the last one is complete, after a pause if there is one (`pauseMs`). Requests are sent
 * as text, and the end of a response is found by its Content-Length or last chunk, because a full HTTP client would
 * cost more than the server.
 *
 * @throws Error if a response has a different status, or a connection ends
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const started = performance.now();
  const from = started + load.warmUpSeconds * 1000;
  const until = from + load.seconds * 1000;
  const times: number[] = [];
  let counting = false;

  const count = (sentAt: number, doneAt: number): boolean => {
    if (!counting && doneAt >= from) {
      counting = true;
      load.onCounted();
    }
    if (sentAt >= from && doneAt <= until) times.push(doneAt - sentAt);
    return doneAt < until;
  };
  await Promise.all(Array.from({ length: load.connections }, () => runConnection(load, count)));
  load.onCounted();
  const seconds = (performance.now() - from) / 1000;
  const sorted = Float64Array.from(times).sort();
  return {
    requests: sorted.length,
    perSecond: sorted.length / Math.min(seconds, load.seconds),
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  };
}

function runConnection(load: Load, count: (sentAt: number, doneAt: number) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const connection = openConnection(load.port, reject);
    const send = () => {
      const sentAt = performance.now();
      connection.send(load.request(), load.token, ({ status, text }) => {
        if (status !== load.status) {
          connection.close();
          reject(new Error(`returned ${status} instead of ${load.status}: ${text()}`));
        } else if (count(sentAt, performance.now())) {
          if (load.pauseMs > 0) setTimeout(send, load.pauseMs * (0.5 + nextShare()));
          else send();
        } else {
          connection.close();
          resolve();
        }
      });
    };
    connection.opened(send);
  });
}

/** A keep-alive connection for one request at a time. */
export interface BenchConnection {
  opened(then: () => void): void;
  send(request: BenchRequest, token: string, answered: (answer: Answer) => void): void;
  close(): void;
}

/** @param failed called when the connection fails, or is closed by the server */
export function openConnection(port: number, failed: (error: Error) => void): BenchConnection {
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const answers = createReader();
  let waiting: (answer: Answer) => void = () => {};
  socket.on('error', failed);
  socket.on('close', () => failed(new Error('the server closed a connection')));
  socket.on('data', (chunk) => {
    const answer = answers(chunk);
    if (answer !== null) waiting(answer);
  });
  return {
    opened: (then) => void socket.once('connect', then),
    send(request, token, answered) {
      waiting = answered;
      socket.write(serialise(request, token), 'latin1');
    },
    close: () => void socket.removeAllListeners('close').destroy(),
  };
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;
let shares = 0;

/**
 * Returns the next number of a sequence that is evenly spread between 0 and 1 and the same in every run. It varies the
 * pauses, because connections with equal pauses would synchronize.
 */
function nextShare(): number {
  return (++shares * GOLDEN) % 1;
}

function serialise({ method, path, type, body, anonymous, headers = {} }: BenchRequest, token: string): string {
  const credential = anonymous ? '' : `authorization: Bearer ${token}\r\n`;
  const further = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${credential}${further.join('')}`;
  if (body === undefined) return `${head}\r\n`;
  return `${head}content-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

export interface Answer {
  status: number;
  text(): string;
}

const LAST_CHUNK = Buffer.from('0\r\n\r\n');

/** Returns a function that joins the chunks of one response; it returns null until the response is complete. */
function createReader(): (chunk: Buffer) => Answer | null {
  let held: Buffer | null = null;
  let headLength = 0;
  let bodyLength: number | null = 0;
  let status = 0;
  const isComplete = (bytes: Buffer) =>
    bodyLength === null
      ? bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
      : bytes.length >= headLength + bodyLength;
  return (chunk) => {
    const bytes: Buffer = held ? Buffer.concat([held, chunk]) : chunk;
    held = bytes;
    if (headLength === 0) {
      const headEnd = bytes.indexOf('\r\n\r\n');
      if (headEnd < 0) return null;
      const head = bytes.toString('latin1', 0, headEnd);
      status = Number(head.slice(9, 12));
      headLength = headEnd + 4;
      const isChunked = /\r\ntransfer-encoding: *chunked/i.test(head);
      bodyLength = isChunked ? null : Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    }
    if (!isComplete(bytes)) return null;
    held = null;
    headLength = 0;
    return { status, text: () => bytes.toString('utf8') };
  };
}
