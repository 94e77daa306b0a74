import { LRUCache } from 'lru-cache';
import { Lanes } from '../lanes.ts';
import { LookupError } from './dns.ts';
import { EgressError } from './egress-error.ts';
import { orAborted } from './or-aborted.ts';
import type { Resolver } from './resolver.ts';

export interface LookupLimits {
  /** Concurrent lookups, and lookups that may wait. */
  lookups: number;
  queuedLookups: number;
  /** How long a failure is remembered, in milliseconds. */
  failedLookupMs: number;
  /** The most failures that are remembered. */
  failedLookups: number;
}

/** The lane of every lookup: one party has one queue. */
const ALL = 'lookups';

/** A lookup under way. */
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
 * Bounds the lookups of one party, an environment: names of it that never resolve cost no other party anything. Callers that want one
 * name at one time share a lookup, and the last of them who gives up ends it. A failure is remembered for a short time; addresses are
 * not, because each connection is judged by what its name means now.
 *
 * @param clock milliseconds; only differences count
 * @returns a resolver that rejects with what `resolve` does, or with an EgressError `unreachable` when too many lookups wait
 */
export function createLookups(resolve: Resolver, limits: LookupLimits, clock: () => number): Resolver {
  const running = new Map<string, Lookup>();
  const failures = new LRUCache<string, Failure>({ max: limits.failedLookups });
  const lanes = new Lanes({
    perLane: limits.lookups,
    waiting: limits.queuedLookups,
    full: () => new EgressError('unreachable', 'Too many host names are being resolved.'),
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
