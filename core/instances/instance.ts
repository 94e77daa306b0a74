import type { Store } from '../../db/store.ts';

/** This process, as one of those that serve the same database. */
export interface Instance {
  id: string;
  /** The number that identifies it in rows. */
  number: number;
}

export interface InstanceTools {
  store: Store;
  /** Milliseconds UTC. */
  now(): number;
  newId(prefix: 'inst'): string;
  version: string;
}

/**
 * Registers this process as the only one that serves the database, and cleans up after previous ones: executions
 * without an outcome become UNKNOWN, and idempotency keys without an execution and refresh leases are released.
 *
 * @throws StorageError
 */
export async function registerOnly({ store, now, newId, version }: InstanceTools): Promise<Instance> {
  const id = newId('inst');
  const at = now();
  const number = await store.write(async (tx) => {
    const number = await tx.instances.register({ id, version, startedAt: at, beatAt: at });
    await tx.instances.removeOthers(number);
    return number;
  });
  for (const environment of await store.read.environments.list()) {
    await store.write(async (tx) => {
      await tx.executions.markAbandoned(environment.id, at);
      await tx.idempotencyKeys.releaseAbandoned(environment.id);
      await tx.refreshLeases.endAbandoned(environment.id);
    });
  }
  return { id, number };
}
