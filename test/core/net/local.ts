import { createServer as createHttpServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createEgress, type Egress, type EgressOptions, type EgressRequest } from '../../../core/net/egress.ts';
import { EgressError } from '../../../core/net/egress-error.ts';
import { EgressPolicy } from '../../../core/net/policy.ts';
import type { Certificate } from '../../support/tls/certificates.ts';

/** A real server on loopback that counts connections and requests. */
export interface Local {
  port: number;
  origin: string;
  /** The number of TCP connections accepted so far. */
  connections: number;
  /** The open connections. */
  readonly open: Set<Socket>;
  readonly requests: IncomingMessage[];
}

const closers: (() => Promise<unknown>)[] = [];

/** Closes every server and egress of the test; call it in `afterEach`. */
export async function closeAll(): Promise<void> {
  await Promise.all(closers.splice(0).map((close) => close()));
}

export function serve(listener: RequestListener): Promise<Local> {
  return listen(createHttpServer(listener), 'http');
}

export function serveTls(certificate: Certificate, listener: RequestListener): Promise<Local> {
  return listen(createHttpsServer({ cert: certificate.cert, key: certificate.key }, listener), 'https');
}

/** Starts a TCP server; the test writes the bytes of its responses. */
export function serveRaw(onSocket: (socket: Socket) => void): Promise<Local> {
  return listen(createTcpServer(onSocket), 'http');
}

/** Starts any server on a free port of loopback. */
export async function listen(server: Server, scheme: string): Promise<Local> {
  const open = new Set<Socket>();
  const local: Local = { port: 0, origin: '', connections: 0, open, requests: [] };
  server.on('connection', (socket: Socket) => {
    local.connections++;
    open.add(socket);
    socket.on('error', () => {}).on('close', () => open.delete(socket));
  });
  server.on('request', (request: IncomingMessage) => local.requests.push(request));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  local.port = (server.address() as AddressInfo).port;
  local.origin = `${scheme}://127.0.0.1:${local.port}`;
  closers.push(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return local;
}

export function startEgress(policy: EgressPolicy, options: EgressOptions = {}): Egress {
  const egress = createEgress(policy, options);
  closers.unshift(() => egress.close());
  return egress;
}

/** An egress that may reach these local servers by address, and nothing else on loopback. */
export function egressTo(locals: Local | readonly Local[], options: EgressOptions = {}): Egress {
  const allow = [locals].flat().map(({ port }) => ({ host: '127.0.0.1', port }));
  return startEgress(new EgressPolicy({ allow, overrides: [] }), options);
}

/** An egress without any permission. */
export function strictEgress(options: EgressOptions = {}): Egress {
  return startEgress(new EgressPolicy({ allow: [], overrides: [] }), options);
}

export function get(address: string, more: Partial<EgressRequest> = {}): EgressRequest {
  const url = new URL(address);
  return { method: 'GET', url, allowedOrigins: [url.origin], ...more };
}

/** Returns the EgressError that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<EgressError> {
  const outcome = await promise.then(
    () => 'an answer',
    (error: unknown) => error,
  );
  if (outcome instanceof EgressError) return outcome;
  throw outcome instanceof Error ? outcome : new Error(`expected a failure, got ${outcome}`);
}

/** A process that does nothing else takes a few seconds for this many turns of the event loop. */
const MAX_TURNS = 2_000_000;

/**
 * Resolves when a condition that sockets change becomes true. Checks it after each turn of the event loop.
 *
 * @throws Error if it is still false after this many turns, so that a failing test ends and names the condition
 */
export async function eventually(condition: () => boolean, turns = MAX_TURNS): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn >= turns) throw new Error(`after ${turns} turns of the event loop this still does not hold: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
