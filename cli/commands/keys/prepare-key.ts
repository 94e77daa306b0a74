import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { INSTANCE } from '../../../core/budgets.ts';
import { runningServers, serversBehind, serversWithout } from '../../../core/keys/server-keys.ts';
import { activateKey } from '../../../core/vault/key-file-edit.ts';
import { createAndAddKey, introduceStandbyKey, standbyKey } from '../../../core/vault/key-lifecycle.ts';
import type { InstanceRow } from '../../../db/store.ts';
import { type openStorage, openVault } from '../../open-storage.ts';

/**
 * How long to wait after a change of the key file, in milliseconds. A running server loads it within 250 ms, but data
 * that it encrypted before may not be written to the database yet.
 */
const NOTICE_MS = 1_000;
const POLL_MS = 250;

type Opened = Awaited<ReturnType<typeof openStorage>>;

export type Preparation =
  /** The id of the key that was made active; null if an earlier rotation is to be completed. */
  | { kind: 'active'; id: string | null }
  /** The key is in the key file of this machine, but servers on other machines lack it. */
  | { kind: 'waiting'; id: string; servers: InstanceRow[] };

/**
 * Makes a new key the active one. On a database of several servers this takes two steps: the key is first added as a
 * standby key, and becomes active when every running server has reported that it has it. If servers lack it, the next
 * call continues with the same key.
 */
export async function prepareKey({ config, secrets, store, rotationStore }: Opened): Promise<Preparation> {
  if (store.clock === null) {
    const id = await createAndAddKey(config.keysFile, rotationStore, randomBytes, Date.now());
    await setTimeout(NOTICE_MS);
    return { kind: 'active', id };
  }
  const ring = openVault(config, secrets).source.current();
  const standby = await standbyKey(ring, rotationStore);
  if (standby === undefined && (await isUnfinished())) return { kind: 'active', id: null };
  const id = standby ?? (await introduceStandbyKey(config.keysFile, rotationStore, randomBytes, await store.clock()));
  const servers = await untilNone(async () => serversWithout(id, await runningServers(store)));
  if (servers.length > 0) return { kind: 'waiting', id, servers };
  activateKey(config.keysFile, id);
  const after = openVault(config, secrets).source.current();
  await untilNone(async () => serversBehind(after, await runningServers(store)));
  await setTimeout(NOTICE_MS);
  return { kind: 'active', id };

  /** Whether servers still use an old key, or records are still encrypted under one. */
  async function isUnfinished(): Promise<boolean> {
    if (serversBehind(ring, await runningServers(store)).length > 0) return true;
    const counts = await Promise.all(ring.ids.slice(1).map((old) => rotationStore.countUnder(old)));
    return counts.some((count) => count > 0);
  }
}

/**
 * Calls `find` until it returns no server, or every server has had the time to report its keys. @returns its last
 * result
 */
async function untilNone(find: () => Promise<InstanceRow[]>): Promise<InstanceRow[]> {
  const until = performance.now() + 2 * INSTANCE.beatEveryMs;
  for (;;) {
    const found = await find();
    if (found.length === 0 || performance.now() > until) return found;
    await setTimeout(POLL_MS);
  }
}
