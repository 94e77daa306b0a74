import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Piece, Shape } from './shapes.ts';

/** The beginning of a correct message. */
export interface Head {
  start: string;
  headers: readonly string[];
}

/**
 * Sends a message as its shape describes. Resolves when all of it is sent, or when the receiver has closed the
 * connection.
 */
export async function play(socket: Socket, shape: Shape, head: Head, secret = ''): Promise<void> {
  const body = typeof shape.body === 'function' ? shape.body(secret) : (shape.body ?? []);
  if (shape.start !== null) socket.write(Buffer.from(headOf(shape, head, body), 'latin1'));
  for (const piece of body) await send(socket, piece);
  if (shape.end === 'close') socket.end();
  if (shape.end === 'reset') socket.resetAndDestroy();
}

function headOf(shape: Shape, { start, headers }: Head, body: readonly Piece[]): string {
  const own = shape.headers ?? [];
  const has = (name: string) => own.some((header) => header.toLowerCase().startsWith(`${name}:`));
  const usual = headers.filter((header) => !has(header.split(':')[0] as string));
  const isFramed = shape.framing === 'none' || has('content-length') || has('transfer-encoding');
  const length = body.reduce((sum, piece) => sum + Buffer.byteLength(bytesOf(piece)) * timesOf(piece), 0);
  const framing = isFramed ? [] : [`content-length: ${length}`];
  return [shape.start ?? start, ...usual, ...own, ...framing, '', ''].join('\r\n');
}

async function send(socket: Socket, piece: Piece): Promise<void> {
  const bytes = bytesOf(piece);
  const everyMs = typeof piece === 'object' && 'everyMs' in piece ? piece.everyMs : undefined;
  for (let sent = 0; sent < timesOf(piece) && socket.writable; sent++) {
    const isTaken = socket.write(bytes);
    if (everyMs !== undefined) await new Promise((resolve) => setTimeout(resolve, everyMs));
    else if (!isTaken) await drained(socket);
  }
}

function bytesOf(piece: Piece): string | Buffer {
  return typeof piece === 'object' && 'bytes' in piece ? piece.bytes : piece;
}

function timesOf(piece: Piece): number {
  return typeof piece === 'object' && 'times' in piece ? (piece.times ?? 1) : 1;
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
    if (socket.destroyed) done();
  });
}

/** A request that the server received. */
export interface Seen {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

/**
 * A third party that behaves correctly until the tested request, and sends the hostile message as the response to it.
 */
export interface HostileServer {
  port: number;
  /** How often it has sent the hostile message. */
  played: number;
  /** Its correct responses. */
  honest: Honest;
  /** The open connections. */
  readonly open: ReadonlySet<Socket>;
  stop(): Promise<void>;
}

/** Returns a correct response, or undefined to use the shape. */
export type Honest = (request: Seen) => { status?: number; body: unknown } | undefined;

export async function startHostileServer(shape: Shape): Promise<HostileServer> {
  const open = new Set<Socket>();
  const hostile: HostileServer = { port: 0, played: 0, honest: () => undefined, open, stop: async () => {} };
  const perform = (socket: Socket, secret: string) => {
    hostile.played++;
    void play(socket, shape, { start: 'HTTP/1.1 200 OK', headers: ['content-type: application/json'] }, secret);
  };
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
    // The next request is not known yet, so a message that is sent without a request is sent on every connection.
    if (shape.unasked) perform(socket, '');
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      for (let found = readRequest(received); found !== undefined; found = readRequest(received)) {
        received = received.slice(found.length);
        const answer = hostile.honest(found.request);
        if (answer !== undefined) sendHonest(socket, answer);
        else if (!shape.unasked) perform(socket, secretOf(found.request));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  hostile.port = (server.address() as AddressInfo).port;
  hostile.stop = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return hostile;
}

function sendHonest(socket: Socket, { status = 200, body }: { status?: number; body: unknown }): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} Well`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
}

/** Returns the credential of a request, for messages that echo it. */
function secretOf({ headers, body }: Seen): string {
  const typed = new URLSearchParams(body).get('client_secret');
  return headers['x-api-key'] ?? headers['authorization']?.replace(/^\w+ /, '') ?? typed ?? 'nothing';
}

/** Returns the first complete request of a text, and its length; undefined if it is incomplete. */
function readRequest(text: string): { request: Seen; length: number } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [start = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (text.length < length) return undefined;
  const [method = '', path = ''] = start.split(' ');
  return { request: { method, path, headers, body: text.slice(end + 4, length) }, length };
}
