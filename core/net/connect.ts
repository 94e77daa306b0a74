import { isIP, connect as netConnect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext, connect as tlsConnect } from 'node:tls';
import { DNS } from '../budgets.ts';
import { isExhausted } from '../exhausted.ts';
import { LookupError } from './dns.ts';
import { EgressError, exhausted } from './egress-error.ts';
import type { Resolver } from './lookups.ts';
import { orAborted } from './or-aborted.ts';
import type { EgressPolicy, Reach } from './policy.ts';
import type { Target } from './target.ts';
import { bareCause, codeOf } from './transport-error.ts';

/** Opens the TCP connection to one address. Tests replace it to observe or redirect connections. */
export type Dial = (options: TcpNetConnectOpts) => Socket;

export interface ConnectorOptions {
  policy: EgressPolicy;
  resolver: Resolver;
  /** PEM certificates of private authorities, trusted in addition to the default authorities of Node. */
  ca?: readonly string[] | undefined;
  /** The time for name resolution, connection and TLS handshake together, in milliseconds. */
  connectTimeoutMs: number;
  dial?: Dial | undefined;
}

/**
 * Opens a connection, with TLS if the target requires it. Rejects with an EgressError whose `sent` is false.
 *
 * @param signal cancels the lookup, the connection and the handshake. Its reason, an EgressError, becomes the failure
 */
export type Connector = (target: Target, signal: AbortSignal) => Promise<Socket>;

/**
 * Creates the function that opens every outbound connection. The name is resolved once, each of its addresses is
 * checked, and the connection uses a checked address, so a later change of the DNS records cannot redirect it (DNS
 * rebinding). After that, the name is only used for SNI and the certificate. Proxies and Unix sockets are not
 * supported. Callers cannot weaken TLS: certificates are always verified, and the version is 1.2 or later (RFC 9325
 * §3.1.1).
 */
export function createConnector(options: ConnectorOptions): Connector {
  const { policy, resolver, connectTimeoutMs, dial = netConnect } = options;
  const secureContext = secureContextOf(options.ca);

  return async (target, signal) => {
    const reach = policy.permit(target);
    signal.throwIfAborted();
    const end = new AbortController();
    const stop = () => end.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const timer = setTimeout(() => end.abort(timedOut(target)), connectTimeoutMs);
    try {
      const addresses = await resolve(target, reach, policy, resolver, end.signal);
      const tried = toTry(addresses);
      // Each address gets part of the time, so that an address that drops packets leaves time for the next one.
      const socket = await firstToConnect(tried, (address) => {
        return openTcp(dial, address, target, connectTimeoutMs / tried.length, end.signal);
      });
      if (!policy.admits(socket.remoteAddress ?? '', reach)) {
        socket.destroy();
        throw refusedAddress(target, reach);
      }
      return target.tls ? await secure(socket, target, secureContext(), end.signal) : socket;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
    }
  };
}

let systemTrust: SecureContext | undefined;

/** Creates the TLS context at the first encrypted connection. All connectors without `ca` share one context. */
function secureContextOf(ca: readonly string[] | undefined): () => SecureContext {
  const create = () => createSecureContext({ minVersion: 'TLSv1.2', ca: trusted(ca) });
  let own: SecureContext | undefined;
  return () => {
    if (ca !== undefined) {
      own ??= create();
      return own;
    }
    systemTrust ??= create();
    return systemTrust;
  };
}

function trusted(ca: readonly string[] | undefined): string[] | undefined {
  return ca === undefined || ca.length === 0 ? undefined : [...getCACertificates('default'), ...ca];
}

async function resolve(
  target: Target,
  reach: Reach,
  policy: EgressPolicy,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { hostname } = target;
  const addresses = isIP(hostname) === 0 ? await lookedUp(hostname, resolver, signal) : [hostname];
  if (addresses.length === 0) throw withoutAddress(hostname);
  // The number of addresses is limited: the owner of the name controls it, and checking each of many takes time.
  if (addresses.length > DNS.addresses) {
    throw new EgressError('unreachable', `The name ${hostname} resolves to more than ${DNS.addresses} addresses.`);
  }
  // Reject the whole DNS answer if any address is forbidden.
  if (!addresses.every((address) => policy.admits(address, reach))) throw refusedAddress(target, reach);
  return addresses;
}

async function lookedUp(hostname: string, resolver: Resolver, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await orAborted(resolver(hostname, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressError) throw error;
    if (error instanceof LookupError && error.reason === 'none') throw withoutAddress(hostname);
    const message = `The name ${hostname} could not be resolved: the DNS lookup failed. Check DNS and the network.`;
    throw new EgressError('unreachable', message, { cause: error });
  }
}

/**
 * Returns the first addresses of each family, in the given order, so that a machine without a route for one family
 * still reaches the other.
 */
function toTry(addresses: readonly string[]): string[] {
  const taken = { 4: 0, 6: 0 };
  return addresses.filter((address) => taken[isIP(address) as 4 | 6]++ < DNS.triedPerFamily);
}

async function firstToConnect(
  addresses: readonly string[],
  open: (address: string) => Promise<Socket>,
): Promise<Socket> {
  let failure: unknown;
  for (const address of addresses) {
    try {
      return await open(address);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

async function openTcp(
  dial: Dial,
  address: string,
  target: Target,
  shareMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  const socket = dial({
    host: address,
    port: target.port,
    family: isIP(address),
    autoSelectFamily: false,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 60_000,
  });
  const share = setTimeout(() => socket.destroy(timedOut(target)), shareMs);
  try {
    return await ready(socket, 'connect', signal);
  } catch (error) {
    if (error instanceof EgressError) throw error;
    if (isExhausted(error)) throw exhausted(error);
    throw new EgressError('unreachable', `${nameOf(target)} does not accept connections.`, { cause: error });
  } finally {
    clearTimeout(share);
  }
}

async function secure(
  socket: Socket,
  target: Target,
  secureContext: SecureContext,
  signal: AbortSignal,
): Promise<Socket> {
  const encrypted = tlsConnect({
    socket,
    secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
    // For an address there is no SNI (RFC 6066 §3); its certificate is compared with `host`.
    host: target.hostname,
    servername: isIP(target.hostname) === 0 ? target.hostname : '',
  });
  try {
    return await ready(encrypted, 'secureConnect', signal);
  } catch (error) {
    if (error instanceof EgressError) throw error;
    const cause = bareCause(error);
    if (codeOf(error) === 'ECONNRESET') {
      throw new EgressError('unreachable', `${nameOf(target)} closed the connection.`, { cause });
    }
    throw new EgressError(
      'tls',
      `A trusted TLS connection to ${nameOf(target)} could not be established: check its certificate and TLS versions.`,
      { cause },
    );
  }
}

/** Resolves with the socket when it is open; destroys it if it fails or the signal is aborted. */
function ready<S extends Socket>(socket: S, event: 'connect' | 'secureConnect', signal: AbortSignal): Promise<S> {
  // This listener is never removed: an error before the HTTP client attaches its own would otherwise end the process.
  socket.on('error', () => {});
  return orAborted(
    new Promise<S>((resolve, reject) => {
      socket.once(event, () => resolve(socket)).once('error', reject);
      socket.once('close', () => reject(new Error('The socket was closed.')));
    }),
    signal,
  ).catch((error: unknown) => {
    socket.destroy();
    throw error;
  });
}

function nameOf({ hostname, port }: Target): string {
  return `${hostname}, port ${port},`;
}

function timedOut(target: Target): EgressError {
  return new EgressError('timeout', `The connection to ${nameOf(target)} was not established in time.`);
}

function withoutAddress(hostname: string): EgressError {
  return new EgressError('unreachable', `The name ${hostname} does not exist, or has no address.`);
}

function refusedAddress({ hostname }: Target, reach: Reach): EgressError {
  const needed = reach === 'loopback' ? 'a loopback address' : 'public, and not an address of this server';
  return new EgressError(
    'blocked',
    `The name ${hostname} resolves to an address that the egress policy does not allow: it must be ${needed}.`,
  );
}
