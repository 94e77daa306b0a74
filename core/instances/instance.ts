import type { Store } from '../../db/store.ts';

/** This process among those that serve its database. */
export interface Instance {
  id: string;
  /** By which rows name it. */
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
 * Registers this process as the only one that serves the database, and ends what the ones before it have left behind: executions
 * without an outcome become UNKNOWN, idempotency keys without an execution become free, and so do the leases of refreshes.
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
