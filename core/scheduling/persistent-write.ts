import { RelationError, StorageError, type Store, type Transaction, type WriteOptions } from '../../db/store.ts';

export interface PersistentWriteDeps {
  store: Pick<Store, 'write'>;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
  log?: { error(fields: object, message: string): void } | undefined;
}

/** The pauses between attempts, in milliseconds. */
const PAUSES_MS = [50, 200, 800, 3_000] as const;

/**
 * Stores the result of a call to a third party, which may not exist anywhere else. After a StorageError or
 * RelationError the write is retried up to four times, over four seconds.
 *
 * @returns the result of the unit, which is durable
 * @throws StorageError or RelationError of the last attempt; any other error immediately, without another attempt
 */
export async function writePersistently<T>(
  { store, wait, log }: PersistentWriteDeps,
  unit: (tx: Transaction) => Promise<T>,
  terms?: WriteOptions,
): Promise<T> {
  for (const ms of PAUSES_MS) {
    try {
      return await store.write(unit, terms);
    } catch (err) {
      // A RelationError may mean that an encryption key was retired in the meantime; the next attempt encrypts with its
      // successor.
      if (!(err instanceof StorageError || err instanceof RelationError)) throw err;
      log?.error({ err }, 'the result of a call could not be stored yet');
      await wait(ms);
    }
  }
  return store.write(unit, terms);
}
