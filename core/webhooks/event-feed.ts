import type { EnvironmentId, EventRow, Store } from '../../db/store.ts';
import { EVENT_STREAM } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import { principalState } from '../operators/principal.ts';

export interface EventFeedDeps {
  store: Pick<Store, 'read'>;
  /** Milliseconds UTC. */
  now(): number;
}

export interface Subscription {
  environmentId: EnvironmentId;
  /**
   * The client or operator session that reads the stream. The stream ends when the client is disabled or the session
   * ends.
   */
  clientId: string;
  /** The stream contains the events after this `seq`. */
  after: number;
}

/** Streams the stored events of environments. */
export interface EventFeed {
  /** Wakes the waiting streams of an environment. Call it after each commit that stored an event. */
  notifyStored(environmentId: string): void;
  /** @throws ApiError RATE_LIMITED if too many streams of the environment are open */
  requireFreeStream(environmentId: string): void;
  /**
   * Yields the events after a `seq`, in batches and without a gap. An empty batch means that there is no event at the
   * moment. The stream ends after `EVENT_STREAM.longestMs`; then its reader must open another stream. The stream ends
   * earlier if `signal` is aborted, the feed is closed, or the client may no longer read events. If too many streams of
   * the environment are open already, the stream is empty.
   */
  follow(subscription: Subscription, signal: AbortSignal): AsyncIterable<readonly EventRow[]>;
  /** Ends all streams. */
  close(): void;
}

export function createEventFeed({ store, now }: EventFeedDeps): EventFeed {
  /** The functions that wake waiting streams, by environment. */
  const readers = new Map<string, Set<() => void>>();
  const counts = new Map<string, number>();
  const closing = new AbortController();
  const isFull = (environmentId: string) => (counts.get(environmentId) ?? 0) >= EVENT_STREAM.perEnvironment;

  /**
   * Returns a promise that resolves when the next event of the environment is stored, after `EVENT_STREAM.pollMs`, or
   * when the stream ends.
   */
  function next(environmentId: string, signal: AbortSignal): { promise: Promise<void>; cancel(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = readers.get(environmentId) ?? new Set();
    readers.set(environmentId, waiting.add(resolve));
    const timer = setTimeout(resolve, EVENT_STREAM.pollMs).unref();
    const ended = AbortSignal.any([signal, closing.signal]);
    const wake = () => resolve();
    ended.addEventListener('abort', wake, { once: true });
    if (ended.aborted) resolve();
    const cancel = () => {
      clearTimeout(timer);
      ended.removeEventListener('abort', wake);
      waiting.delete(resolve);
      if (waiting.size === 0 && readers.get(environmentId) === waiting) readers.delete(environmentId);
    };
    return { promise: promise.finally(cancel), cancel };
  }

  async function* batches({ environmentId, clientId, after }: Subscription, signal: AbortSignal) {
    const until = now() + EVENT_STREAM.longestMs;
    let seq = after;
    const isOver = () => signal.aborted || closing.signal.aborted || now() >= until;
    while (!isOver()) {
      const client = await principalState(store.read, environmentId, clientId, now());
      if (!client?.enabled) return;
      // The wait starts before the read, so that an event which is stored during the read is not missed.
      const event = next(environmentId, signal);
      const rows = await store.read.events.following(environmentId, seq, EVENT_STREAM.rows);
      yield rows;
      seq = rows.at(-1)?.seq ?? seq;
      if (rows.length === 0) await event.promise;
      else event.cancel();
    }
  }

  return {
    notifyStored(environmentId) {
      for (const wake of readers.get(environmentId) ?? []) wake();
    },
    requireFreeStream(environmentId) {
      if (!isFull(environmentId)) return;
      const detail = `The environment has ${EVENT_STREAM.perEnvironment} open streams of events, the maximum.`;
      throw new ApiError('RATE_LIMITED', `${detail} Close one first.`);
    },
    async *follow(subscription, signal) {
      const { environmentId } = subscription;
      // Other streams may have begun since `requireFreeStream`.
      if (isFull(environmentId)) return;
      counts.set(environmentId, (counts.get(environmentId) ?? 0) + 1);
      try {
        yield* batches(subscription, signal);
      } finally {
        const left = (counts.get(environmentId) ?? 1) - 1;
        if (left === 0) counts.delete(environmentId);
        else counts.set(environmentId, left);
      }
    },
    close: () => closing.abort(),
  };
}
