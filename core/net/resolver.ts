import { isIP } from 'node:net';
import { DNS } from '../budgets.ts';
import { type DnsLimits, lookUp } from './dns.ts';
import { createHostsFile } from './hosts-file.ts';
import { createLookups, type LookupLimits } from './lookups.ts';

/**
 * Gives every IP address of a host name. It is asked once for each connection; the addresses are judged, then used as they are.
 *
 * @param signal ends the lookup; its reason becomes the failure
 */
export type Resolver = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface ResolverOptions {
  hostsFile?: string;
  /** `address` or `address:port`; without them those of /etc/resolv.conf. */
  servers?: readonly string[];
  limits?: Partial<DnsLimits & LookupLimits>;
  /** Milliseconds of a clock that never goes back; only differences count. */
  clock?: () => number;
}

const LOOPBACK = ['127.0.0.1', '::1'];

/**
 * Makes the resolver of one party, an environment: the hosts file first, then the name servers. Unlike getaddrinfo it uses no thread, so
 * lookups can be ended and slow ones keep no other party waiting. IPv4 addresses come first: addresses are tried one after another, and
 * many hosts have no IPv6 route. `localhost` and names below it never leave this machine (RFC 6761 §6.3).
 *
 * @returns a resolver that rejects with a LookupError, or with an EgressError when too many lookups wait
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
