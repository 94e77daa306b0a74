import { LRUCache } from 'lru-cache';
import { Lanes } from '../scheduling/lanes.ts';
import { LookupError } from './dns.ts';
import { EgressError } from './egress-error.ts';
import { orAborted } from './or-aborted.ts';

/**
 * Returns the IP addresses of a host name. The connector resolves a name once for each connection, checks all of the
 * returned addresses, and connects only to these.
 *
 * @param signal cancels the lookup. Its reason becomes the failure
 */
export type Resolver = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

export interface LookupLimits {
  /** The maximum numbers of running lookups and of waiting lookups. */
  lookups: number;
  queuedLookups: number;
  /** How long a failure is cached, in milliseconds. */
  failedLookupMs: number;
  /** The maximum number of cached failures. */
  failedLookups: number;
}

/** The name of the lane (a group of slots, see `Lanes`) that all lookups of an environment share. */
const ALL = 'lookups';

/** A lookup that is running. */
interface Lookup {
  addresses: Promise<readonly string[]>;
  waiting: number;
  end: AbortController;
}

interface Failure {
  error: unknown;
  /** In milliseconds of the clock. */
  until: number;
}

/**
 * Limits the DNS lookups of one environment, so that its unresolvable names do not affect other environments.
 * Concurrent lookups of one name are shared; a lookup is cancelled when all of its callers have cancelled. Failures are
 * cached for a short time. Addresses are not cached, because each connection must be checked against the current
 * addresses of its name.
 *
 * @param clock milliseconds; only differences are used
 * @returns a resolver that rejects as `resolve` does, or with an EgressError `unreachable` if too many lookups are
 * waiting
 */
export function createLookups(resolve: Resolver, limits: LookupLimits, clock: () => number): Resolver {
  const running = new Map<string, Lookup>();
  const failures = new LRUCache<string, Failure>({ max: limits.failedLookups });
  const lanes = new Lanes({
    perLane: limits.lookups,
    waiting: {
      limit: limits.queuedLookups,
      full: () => new EgressError('unreachable', 'Too many host names are being resolved. Try again later.'),
    },
  });

  async function run(hostname: string, signal: AbortSignal): Promise<readonly string[]> {
    const leave = await lanes.enter(ALL, signal);
    try {
      const addresses = await orAborted(resolve(hostname, signal), signal);
      if (addresses.length === 0) throw new LookupError('none', 'no address');
      return addresses;
    } catch (error) {
      signal.throwIfAborted();
      failures.set(hostname, { error, until: clock() + limits.failedLookupMs });
      throw error;
    } finally {
      leave();
    }
  }

  function begin(hostname: string): Lookup {
    const end = new AbortController();
    const addresses = run(hostname, end.signal);
    const lookup = { addresses, waiting: 0, end };
    const forget = () => {
      if (running.get(hostname) === lookup) running.delete(hostname);
    };
    addresses.then(forget, forget);
    running.set(hostname, lookup);
    return lookup;
  }

  return async (hostname, signal) => {
    const failure = failures.get(hostname);
    if (failure !== undefined && clock() < failure.until) throw failure.error;
    const lookup = running.get(hostname) ?? begin(hostname);
    lookup.waiting++;
    try {
      return await orAborted(lookup.addresses, signal);
    } finally {
      lookup.waiting--;
      if (lookup.waiting === 0 && running.get(hostname) === lookup) {
        running.delete(hostname);
        lookup.end.abort(signal.reason);
      }
    }
  };
}
