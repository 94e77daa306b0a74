import { isIP } from 'node:net';
import { DNS } from '../budgets.ts';
import { type DnsLimits, lookUp } from './dns.ts';
import { createHostsFile } from './hosts-file.ts';
import { createLookups, type LookupLimits, type Resolver } from './lookups.ts';

export interface ResolverOptions {
  hostsFile?: string;
  /** The name servers as `address` or `address:port`; if omitted, those of /etc/resolv.conf. */
  servers?: readonly string[];
  limits?: Partial<DnsLimits & LookupLimits>;
  /** Milliseconds of a monotonic clock; only differences are used. */
  clock?: () => number;
}

const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * Creates the resolver of one environment (tenant). It uses the hosts file first, then the name servers. Unlike
 * getaddrinfo, a lookup does not occupy a thread: it can be cancelled, and slow lookups do not delay other
 * environments. IPv4 addresses come first, because addresses are tried in order and many machines have no IPv6 route.
 * `localhost` and its subdomains are never looked up outside of this machine (RFC 6761 §6.3).
 *
 * @returns a resolver that rejects with a LookupError, with an EgressError if too many lookups are waiting, or with the
 * reason of its signal
 */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const { hostsFile = '/etc/hosts', servers, clock = () => performance.now() } = options;
  const limits = { ...DNS, ...options.limits };
  const hosts = createHostsFile(hostsFile);
  const ask = createLookups((hostname, signal) => lookUp(hostname, signal, limits, servers), limits, clock);
  return async (hostname, signal) => {
    const listed = hosts(hostname);
    if (listed !== undefined) return listed.toSorted((a, b) => isIP(a) - isIP(b));
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return LOOPBACK;
    return ask(hostname, signal);
  };
}
