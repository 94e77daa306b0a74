import type { InstanceRow, Store } from '../../db/store.ts';
import { INSTANCE } from '../budgets.ts';
import type { KeyRing } from '../vault/key-ring.ts';

/**
 * Returns the running servers of a database that several servers can use, with the keys that they last reported. The
 * list is empty for a database that only one server uses at a time, because that server reads the same key file as the
 * commands.
 */
export async function runningServers(store: Store): Promise<InstanceRow[]> {
  if (store.clock === null) return [];
  const [now, rows] = await Promise.all([store.clock(), store.read.instances.list()]);
  return rows.filter(({ beatAt }) => beatAt > now - INSTANCE.silentMs);
}

/** Returns the servers that do not have a key, and so cannot decrypt data encrypted under it. */
export function serversWithout(kekId: string, servers: readonly InstanceRow[]): InstanceRow[] {
  return servers.filter(({ keys }) => !keys.includes(kekId));
}

/** Returns the servers that encrypt with another key than the active one of this ring. */
export function serversBehind({ active }: Pick<KeyRing, 'active'>, servers: readonly InstanceRow[]): InstanceRow[] {
  return servers.filter(({ keys }) => keys[0] !== active.id);
}
