import { StorageError } from '../../db/store.ts';
import { INSTANCE } from '../budgets.ts';
import { cleanUp, type Instance, type InstanceDeps } from './instance.ts';

/** Two reports of an instance with a longer time between them, in milliseconds, suggest that the database failed. */
const LONGEST_GAP_MS = 1.5 * INSTANCE.beatEveryMs;

/**
 * Returns the function with which one of several instances reports regularly that it is running. The function also
 * cleans up after instances that have not reported for `INSTANCE.silentMs`. If the database was not available, no
 * instance could report. Therefore an instance considers others silent only after it has itself reported for that long
 * without a gap.
 *
 * The function returns the number of registered instances including this one, or null if the others consider this one
 * ended: then all its writes fail.
 */
export function createHeartbeat(
  { number }: Instance,
  { store, now, keyIds }: Pick<InstanceDeps, 'store' | 'now' | 'keyIds'>,
): () => Promise<number | null> {
  // The registration has just been stored, so the database works.
  let steadySince = now();
  let last = steadySince;
  return async () => {
    try {
      await store.note((tx) => tx.instances.beat(number, now(), keyIds()));
      const at = now();
      if (at - last > LONGEST_GAP_MS) steadySince = at;
      last = at;
      if (at - steadySince >= INSTANCE.silentMs) {
        const removed = await store.write((tx) => tx.instances.removeSilent(now(), INSTANCE.silentMs));
        if (removed > 0) await cleanUp({ store, now });
      }
      return (await store.read.instances.list()).length;
    } catch (error) {
      if (error instanceof StorageError && error.code === 'INSTANCE_ENDED') return null;
      throw error;
    }
  };
}
