import type { Client } from 'undici';
import type { Connector } from './connect.ts';
import { EgressError } from './egress-error.ts';
import { loadUndici } from './packages.ts';
import type { Target } from './target.ts';

export interface ConnectionPoolOptions {
  connect: Connector;
  /** The largest header section of a response, in bytes. */
  maxHeaderBytes: number;
  /** Connections that are kept open between calls, to all origins together. */
  keptConnections: number;
  /** The longest time that a server may ask for its connection to be kept, in milliseconds. */
  keptConnectionMs: number;
}

/** Where a call goes: `origin` is what its Host header names. */
export interface Destination {
  origin: string;
  target: Target;
}

/**
 * Gives each call an HTTP/1.1 connection that no other call uses meanwhile, and keeps it afterwards for the next call to the same
 * origin. Opening one belongs to the call: a call that is stopped stops the lookup, the connection and the handshake. When too many
 * connections are kept, the one that has been idle longest is closed.
 */
export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  /** Idle connections by origin; the origin that was used last comes last. */
  readonly #idle = new Map<string, Client[]>();
  #idleCount = 0;
  #inUse = 0;
  #closed: PromiseWithResolvers<void> | undefined;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
  }

  /** Connections that are open and idle. */
  get idle(): number {
    return this.#idleCount;
  }

  /**
   * Takes a connection for one call.
   *
   * @param signal ends the opening; its reason, an EgressError, becomes the failure
   * @returns `isKept`: it was open before, so its server may be closing it; `release` is to be called once, when the call is over
   * @throws EgressError that says that nothing was sent
   */
  async take(
    { origin, target }: Destination,
    signal: AbortSignal,
  ): Promise<{ client: Client; isKept: boolean; release: () => void }> {
    if (this.#closed) throw new EgressError('unreachable', 'The service is stopping.');
    const kept = this.#takeIdle(origin);
    this.#inUse++;
    try {
      const client = kept ?? (await this.#open(origin, target, signal));
      return { client, isKept: kept !== undefined, release: () => this.#release(origin, client) };
    } catch (error) {
      this.#left();
      throw error;
    }
  }

  /** Closes idle connections immediately, the others when their calls are over. */
  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    for (const [origin, clients] of this.#idle) for (const client of clients.slice()) this.#forget(origin, client);
    if (this.#inUse === 0) this.#closed.resolve();
    await this.#closed.promise;
  }

  async #open(origin: string, target: Target, signal: AbortSignal): Promise<Client> {
    const { connect, maxHeaderBytes, keptConnectionMs } = this.#options;
    const socket = await connect(target, signal);
    let isTaken = false;
    const { Client } = loadUndici();
    const client = new Client(origin, {
      // One connection per client. A client that asks for a second one has lost the first before it wrote anything.
      connect: (_options, callback) => {
        const first = !isTaken;
        isTaken = true;
        queueMicrotask(() => (first ? callback(null, socket) : callback(new Error('The connection is closed.'), null)));
      },
      pipelining: 1,
      maxHeaderSize: maxHeaderBytes,
      keepAliveMaxTimeout: keptConnectionMs,
      // The limits of a call are kept by the call: these two could only end it with another error.
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
    // A server that closes the connection with its response has done so by the next turn.
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
