import { RelationError, StorageError, type Store, type Transaction } from '../db/store.ts';

export interface PersistentWriteTools {
  store: Pick<Store, 'write'>;
  /** Resolves after some milliseconds. */
  wait(ms: number): Promise<void>;
  log?: { error(fields: object, message: string): void } | undefined;
}

/** The pauses between attempts, in milliseconds. */
const PAUSES_MS = [50, 200, 800, 3_000] as const;

/**
 * Stores the result of a call to a third party, which may exist nowhere else. A storage error is tried again four times, over four
 * seconds.
 *
 * @returns the result of the unit, durable
 * @throws StorageError, RelationError of the last attempt; anything else of the first
 */
export async function writePersistently<T>(
  { store, wait, log }: PersistentWriteTools,
  unit: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await store.write(unit);
    } catch (err) {
      // A key that was retired meanwhile is one of the relations: the next attempt seals under its successor.
      if (!(err instanceof StorageError || err instanceof RelationError)) throw err;
      log?.error({ err }, 'the result of a call could not be stored yet');
      await wait(ms);
    }
  }
  return store.write(unit);
}
