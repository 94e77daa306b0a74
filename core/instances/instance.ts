import type { EnvironmentId, Store, Transaction } from '../../db/store.ts';
import { RunningExecutions } from './running-executions.ts';

/** This process among those that serve its database. */
export interface Instance {
  id: string;
  /** The number by which rows refer to this process. */
  number: number;
  executions: RunningExecutions;
}

export interface InstanceDeps {
  store: Store;
  /** Milliseconds UTC. */
  now(): number;
  newId(prefix: 'inst'): string;
  version: string;
  /** Returns the ids of the encryption keys of this process, the active one first. */
  keyIds(): string[];
}

/**
 * Registers this process as the only one that uses the database, and cleans up after earlier processes.
 *
 * @throws StorageError
 */
export async function registerSoleInstance(deps: InstanceDeps): Promise<Instance> {
  const instance = await register(deps, (tx, number) => tx.instances.removeOthers(number));
  await cleanUp(deps);
  return instance;
}

/**
 * Registers this process as one of several that use the database. `createHeartbeat` cleans up after those that crashed.
 *
 * @throws StorageError
 */
export async function registerSharedInstance(deps: InstanceDeps): Promise<Instance> {
  const instance = await register(deps);
  const running = await deps.store.read.instances.list();
  deps.store.fence(instance.number, running.filter(({ number }) => number < instance.number).length);
  await cleanUp(deps);
  return instance;
}

/**
 * Ends the registration of this process when it stops, and cleans up after it, because other processes keep running.
 */
export async function deregisterInstance(
  { number }: Instance,
  { store, now }: Pick<InstanceDeps, 'store' | 'now'>,
): Promise<void> {
  const environments = await store.read.environments.list();
  // In one transaction, because this process cannot write any more after its row is removed.
  await store.write(async (tx) => {
    await tx.instances.remove(number);
    for (const { id } of environments) await cleanUpIn(tx, id, now());
  });
}

/**
 * Sets the executions of this process that it no longer carries out to UNKNOWN, and makes their idempotency keys count
 * as keys of a stopped process. The end of these executions was not stored because the storage failed for too long, or
 * it was lost in a crash of the database server. No other process ends them while this one runs. Keys are checked
 * separately, because not every request with a key is recorded as an execution.
 *
 * @returns how many executions were set to UNKNOWN, and how many keys were changed
 */
export async function endLost(
  { number, executions }: Instance,
  { store, now }: Pick<InstanceDeps, 'store' | 'now'>,
): Promise<{ executions: number; keys: number }> {
  const { instances } = store.read;
  const [recorded, keys] = await Promise.all([instances.unfinished(number), instances.claimedKeys(number)]);
  const lost = { executions: 0, keys: 0 };
  // The lists were read before `executions` is checked, so an execution that begins now is not in them. `finish` does
  // not change an execution that has ended in the meantime.
  for (const { environmentId, id } of recorded) {
    if (executions.has(id)) continue;
    const outcome = { status: 'UNKNOWN' as const, finishedAt: now() };
    if (await store.write((tx) => tx.executions.finish(environmentId, id, outcome))) lost.executions += 1;
  }
  for (const { environmentId, executionId, ...name } of keys) {
    if (executions.has(executionId)) continue;
    if (await store.write((tx) => tx.idempotencyKeys.disown(environmentId, name))) lost.keys += 1;
  }
  return lost;
}

async function register(
  { store, now, newId, version, keyIds }: InstanceDeps,
  then?: (tx: Transaction, number: number) => Promise<void>,
): Promise<Instance> {
  const id = newId('inst');
  const at = now();
  const number = await store.write(async (tx) => {
    const number = await tx.instances.register({ id, version, startedAt: at, beatAt: at, keys: keyIds() });
    await then?.(tx, number);
    return number;
  });
  return { id, number, executions: new RunningExecutions() };
}

/**
 * Ends the unfinished work of ended instances: executions without an outcome become UNKNOWN, and idempotency keys
 * without an execution and leases of refreshes are released.
 */
export async function cleanUp({ store, now }: Pick<InstanceDeps, 'store' | 'now'>): Promise<void> {
  for (const environment of await store.read.environments.list()) {
    await store.write((tx) => cleanUpIn(tx, environment.id, now()));
  }
}

async function cleanUpIn(tx: Transaction, environmentId: EnvironmentId, at: number): Promise<void> {
  await tx.executions.markAbandoned(environmentId, at);
  await tx.idempotencyKeys.releaseAbandoned(environmentId);
  await tx.refreshLeases.endAbandoned(environmentId);
}
