import type { Client } from 'undici';
import type { Connector } from './connect.ts';
import { EgressError } from './egress-error.ts';
import { loadUndiciClient } from './packages.ts';
import type { Target } from './target.ts';

export interface ConnectionPoolOptions {
  connect: Connector;
  /** The largest header section of a response, in bytes. */
  maxHeaderBytes: number;
  /** The maximum number of idle connections that are kept open, to all origins together. */
  keptConnections: number;
  /** The maximum time that a server's keep-alive header can request, in milliseconds. */
  keptConnectionMs: number;
}

/** Where a call is sent; `origin` is used in its Host header. */
export interface Destination {
  origin: string;
  target: Target;
}

/** A connection that one call uses. */
export interface TakenConnection {
  client: Client;
  /** Whether the connection was already open. Then its server may be closing it. */
  isKept: boolean;
  /** Gives the connection back. The user of the connection must call this once, when the HTTP call has ended. */
  release(): void;
}

/**
 * Gives each call an HTTP/1.1 connection that no other call uses at the same time, and keeps it for the next call to
 * the same origin. Opening a connection is part of the call: cancelling the call cancels the lookup, the connection and
 * the handshake. If too many connections are idle, one of the least recently used origin is closed.
 */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  /** Idle connections by origin. The origin whose connection was given back most recently is last. */
  readonly #idle = new Map<string, Client[]>();
  #idleCount = 0;
  #inUse = 0;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  /** The number of idle open connections. */
  get idle(): number {
    return this.#idleCount;
  }

  /** Takes an idle connection for one call; undefined if there is none or the pool was closed. */
  takeKept({ origin }: Destination): TakenConnection | undefined {
    const client = this.#closed ? undefined : this.#takeIdle(origin);
    if (client === undefined) return undefined;
    this.#inUse++;
    return { client, isKept: true, release: () => this.#release(origin, client) };
  }

  /**
   * Opens a connection for one call.
   *
   * @param signal cancels the opening. Its reason, an EgressError, becomes the failure
   * @throws EgressError whose `sent` is false
   */
  async open({ origin, target }: Destination, signal: AbortSignal): Promise<TakenConnection> {
    if (this.#closed) throw new EgressError('unreachable', 'The server is stopping. Try again later.');
    this.#inUse++;
    try {
      const client = await this.#connect(origin, target, signal);
      return { client, isKept: false, release: () => this.#release(origin, client) };
    } catch (error) {
      this.#left();
      throw error;
    }
  }

  /** Closes idle connections immediately, and the others when their calls have ended. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    for (const [origin, clients] of this.#idle) for (const client of clients.slice()) this.#forget(origin, client);
    if (this.#inUse === 0) this.#closed.resolve();
    await this.#closed.promise;
  }

  async #connect(origin: string, target: Target, signal: AbortSignal): Promise<Client> {
    const { connect, maxHeaderBytes, keptConnectionMs } = this.#options;
    const socket = await connect(target, signal);
    let isTaken = false;
    const UndiciClient = loadUndiciClient();
    const client = new UndiciClient(origin, {
      // Each undici client gets one connection. If the client asks for a second connection, it has lost the first one
      // before it wrote the request. The error makes the call fail with `sent: false`.
      connect: (_options, callback) => {
        const first = !isTaken;
        isTaken = true;
        queueMicrotask(() => (first ? callback(null, socket) : callback(new Error('The connection is closed.'), null)));
      },
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      keepAliveMaxTimeout: keptConnectionMs,
      // Disabled, because the call enforces its own limits with better errors.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return client.on('disconnect', () => this.#forget(origin, client));
  }

  #takeIdle(origin: string): Client | undefined {
    const clients = this.#idle.get(origin);
    const client = clients?.pop();
    if (client === undefined) return undefined;
    this.#idleCount--;
    if (clients?.length === 0) this.#idle.delete(origin);
    return client;
  }

  #release(origin: string, client: Client): void {
    // Waits one event-loop turn: if the server closes the connection after its response, this is known only then.
    setImmediate(() => {
      if (this.#closed || !client.stats.connected) void client.destroy();
      else this.#keep(origin, client);
      this.#left();
    });
  }

  #keep(origin: string, client: Client): void {
    const clients = this.#idle.get(origin) ?? [];
    clients.push(client);
    this.#idle.delete(origin);
    this.#idle.set(origin, clients);
    this.#idleCount++;
    if (this.#idleCount <= this.#options.keptConnections) return;
    const [stale = '', [oldest] = []] = this.#idle.entries().next().value ?? [];
    if (oldest !== undefined) this.#forget(stale, oldest);
  }

  #forget(origin: string, client: Client): void {
    const clients = this.#idle.get(origin) ?? [];
    const at = clients.indexOf(client);
    if (at !== -1) {
      clients.splice(at, 1);
      this.#idleCount--;
      if (clients.length === 0) this.#idle.delete(origin);
    }
    if (!client.destroyed) void client.destroy();
  }

  #left(): void {
    this.#inUse--;
    if (this.#inUse === 0) this.#closed?.resolve();
  }
}
