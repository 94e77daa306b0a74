import { promises as dns } from 'node:dns';
import { codeOf } from './transport-error.ts';

/** Times are in milliseconds. */
export interface DnsLimits {
  /** The maximum duration of one lookup, including the requests to all name servers. */
  timeoutMs: number;
  /** How long to wait for one name server before asking it again or asking the next one. */
  tryMs: number;
  /** The maximum number of requests to each name server. */
  tries: number;
  /** How long to wait for IPv6 addresses after the IPv4 addresses have arrived. */
  secondFamilyMs: number;
}

/**
 * Why a lookup found no address. `none`: the name servers say that the name has none. `failed`: they did not respond in
 * time, or responded with an error or an invalid message.
 */
export class LookupError extends Error {
  readonly reason: 'none' | 'failed';

  constructor(reason: 'none' | 'failed', code: string) {
    super(code);
    this.name = 'LookupError';
    this.reason = reason;
  }
}

const NONE: ReadonlySet<string> = new Set([dns.NOTFOUND, dns.NODATA]);

/**
 * Queries the name servers for the addresses of a host name (RFC 1035, RFC 3596), and returns IPv4 addresses first.
 * Each lookup has its own `dns.Resolver`, so that cancelling a lookup cancels its requests, and a changed
 * /etc/resolv.conf is used from the next lookup on. Search domains are not appended, because the host that gets a
 * credential must not depend on the settings of the machine.
 *
 * @param servers `address` or `address:port`; if omitted, those of the system
 * @param signal cancels the lookup and its requests; its reason becomes the failure
 * @throws LookupError; the reason of the signal
 */
export async function lookUp(
  hostname: string,
  signal: AbortSignal,
  limits: DnsLimits,
  servers?: readonly string[],
): Promise<readonly string[]> {
  signal.throwIfAborted();
  const resolver = new dns.Resolver({ timeout: limits.tryMs, tries: limits.tries, maxTimeout: limits.tryMs });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  const timer = setTimeout(cancel, limits.timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await bothFamilies(resolver, hostname, limits);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    // The request for IPv6 addresses may still be running.
    cancel();
  }
}

/** The outcome of one request: addresses, or the code of its failure. */
type Found = { addresses: readonly string[] } | { code: string };

async function bothFamilies(resolver: dns.Resolver, hostname: string, limits: DnsLimits): Promise<readonly string[]> {
  const second = found(resolver.resolve6(hostname));
  const first = await found(resolver.resolve4(hostname));
  if ('addresses' in first) {
    const rest = await Promise.race([second, later(limits.secondFamilyMs)]);
    return 'addresses' in rest ? [...first.addresses, ...rest.addresses] : first.addresses;
  }
  // The name does not exist, so it has no addresses of the other family either.
  if (first.code === dns.NOTFOUND) throw new LookupError('none', first.code);
  const rest = await second;
  if ('addresses' in rest) return rest.addresses;
  const failed = [first.code, rest.code].find((code) => !NONE.has(code));
  throw failed === undefined ? new LookupError('none', rest.code) : new LookupError('failed', failed);
}

function found(request: Promise<readonly string[]>): Promise<Found> {
  return request.then(
    (addresses) => (addresses.length === 0 ? { code: dns.NODATA } : { addresses }),
    (error: unknown) => ({ code: codeOf(error) }),
  );
}

function later(ms: number): Promise<Found> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, { code: dns.TIMEOUT }).unref();
  });
}
