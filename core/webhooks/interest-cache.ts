import type { EnvironmentId, EnvironmentSettings, Store, Transaction, WebhookEndpointRow } from '../../db/store.ts';
import { RELOAD } from '../budgets.ts';
import type { EventType } from '../events/types.ts';
import { includesType, isDeliveredByDefault } from './event-types.ts';

/** Which events an environment uses: those that it stores, and those that its webhook endpoints receive. */
export interface Interest {
  /** Whether the environment also stores events that no endpoint receives, except those of each call. */
  keepsEvents: boolean;
  /** The event types of each enabled endpoint. */
  eventTypes: readonly (readonly string[])[];
}

export interface InterestCache {
  /** Returns the cached value; undefined if it must be read from the database. @param at milliseconds UTC */
  known(environmentId: EnvironmentId, at: number): Interest | undefined;
  /** Caches an interest that was read in a transaction, as soon as the transaction is committed. */
  remember(tx: Transaction, environmentId: EnvironmentId, interest: Interest, at: number): void;
  /** Discards the cached value. Call it in each transaction that changes an endpoint or the environment's settings. */
  forget(tx: Transaction, environmentId: EnvironmentId): void;
}

/**
 * Caches which events an environment uses, so that an event that is neither stored nor delivered needs no database
 * statement. A change by this process takes effect immediately. A change by another process takes effect when the store
 * notices the change, and at the latest after `RELOAD.environmentMs`.
 */
export function createInterestCache({ settingsVersion }: Pick<Store, 'settingsVersion'>): InterestCache {
  const known = new Map<EnvironmentId, { interest: Interest; version: number; until: number }>();
  // Counts the changes, because a value that was read before a change must not be cached after it.
  let generation = 0;
  const drop = (environmentId: EnvironmentId) => {
    generation++;
    known.delete(environmentId);
  };
  return {
    known(environmentId, at) {
      const entry = known.get(environmentId);
      return entry?.version === settingsVersion() && at < entry.until ? entry.interest : undefined;
    },
    remember(tx, environmentId, interest, at) {
      const current = generation;
      const version = settingsVersion();
      tx.afterCommit(() => {
        if (current === generation) known.set(environmentId, { interest, version, until: at + RELOAD.environmentMs });
      });
    },
    forget(tx, environmentId) {
      drop(environmentId);
      tx.afterCommit(() => drop(environmentId));
    },
  };
}

export function interestOf(settings: EnvironmentSettings, endpoints: readonly WebhookEndpointRow[]): Interest {
  return {
    keepsEvents: settings.keepEvents === true,
    eventTypes: endpoints.map(({ eventTypes }) => eventTypes),
  };
}

/** Whether events of a type are stored or delivered. */
export function isUsed({ keepsEvents, eventTypes }: Interest, type: EventType): boolean {
  if (type === 'webhook_endpoint.tested') return true;
  return (keepsEvents && isDeliveredByDefault(type)) || eventTypes.some((types) => includesType(types, type));
}
