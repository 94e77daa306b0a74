import { sealedUnder } from './blob.ts';
import type { DataKeyContext, ValueContext } from './context.ts';
import { VaultError } from './errors.ts';
import type { KeySource } from './key-source.ts';
import type { Vault } from './vault.ts';

/** A data key or value that is encrypted under a key-encryption key, as it was read. */
export type SealedItem =
  | { kind: 'data-key'; context: DataKeyContext; blob: Buffer }
  | { kind: 'value'; context: ValueContext; blob: Buffer };

export interface Resealed {
  item: SealedItem;
  /** The key-encryption key, and the blob that replaces `item.blob`. */
  kekId: string;
  blob: Buffer;
}

/** The encrypted rows of all tables. */
export interface RotationStore {
  /** Returns how many data keys and values are encrypted under the key. */
  countUnder(kekId: string): Promise<number>;
  /**
   * Returns a batch of the items under the key in a fixed order, after the position of `cursor`; `undefined` for the
   * first batch, which may have more than `limit` items.
   *
   * @returns `next` is the cursor of the following batch, `undefined` after the last
   */
  listUnder(
    kekId: string,
    cursor: string | undefined,
    limit: number,
  ): Promise<{ items: SealedItem[]; next?: string | undefined }>;
  /**
   * Replaces, in one transaction, each blob that still equals `item.blob`, together with the row's key id. A row that a
   * request has written in the meantime is not changed.
   *
   * @returns how many were replaced
   */
  replaceSealed(changes: readonly Resealed[]): Promise<number>;
  /**
   * Deletes the check value of a key in one transaction, if nothing is encrypted under the key. From then on a foreign
   * key constraint rejects rows that name this encryption key, so that nothing can be encrypted under a key that is
   * about to be removed.
   *
   * @returns how many items are encrypted under the key
   */
  forgetKeyCheck(kekId: string): Promise<number>;
}

export interface RotationProgress {
  kekId: string;
  /** How many items were rewrapped so far, of all keys. */
  done: number;
  /** The number of items when the rotation began. */
  total: number;
}

export interface RotationResult {
  done: number;
  /** Items that could not be decrypted. They are not changed, so their key must be kept. */
  failed: { item: SealedItem; error: VaultError }[];
  /** How many items are not under the active key at the end; 0 means that the old keys can be removed. */
  remaining: number;
}

export interface RotationOptions {
  batchSize?: number;
  onProgress?: (progress: RotationProgress) => void;
}

/**
 * Encrypts again, under the active key, all data keys and values that are under other keys of the ring. It works in
 * batches while the server runs. A rotation may be interrupted and started again, and several may run concurrently,
 * because an item is only replaced if it is unchanged. If another rotation makes a newer key active meanwhile, both
 * continue with the newer key.
 *
 * @param keys the keys that `vault` encrypts with
 */
export async function rewrapAll(
  vault: Vault,
  keys: Pick<KeySource, 'current'>,
  store: RotationStore,
  options: RotationOptions = {},
): Promise<RotationResult> {
  const oldIds = () => {
    const { ids, active } = keys.current();
    return ids.filter((id) => id !== active.id);
  };
  const total = await countAll(store, oldIds());
  const result: RotationResult = { done: 0, failed: [], remaining: total };
  let advanced = total > 0;
  // Repeated until only items are left that cannot be rewrapped, because a process that had not loaded the new key may
  // have used the old one in the meantime.
  while (advanced && result.remaining > result.failed.length) {
    const before = result.done;
    result.failed = [];
    for (const kekId of oldIds()) await rewrapKey(kekId, { vault, store, options, total, result });
    result.remaining = await countAll(store, oldIds());
    advanced = result.done > before;
  }
  return result;
}

interface Run {
  vault: Vault;
  store: RotationStore;
  options: RotationOptions;
  total: number;
  result: RotationResult;
}

async function rewrapKey(kekId: string, { vault, store, options, total, result }: Run): Promise<void> {
  const { batchSize = 100 } = options;
  let cursor: string | undefined;
  do {
    const { items, next } = await store.listUnder(kekId, cursor, batchSize);
    const changes = items.flatMap((item) => {
      const change = tryReseal(vault, item);
      if (!(change instanceof VaultError)) return [change];
      result.failed.push({ item, error: change });
      return [];
    });
    // The first list may be longer than a batch. One transaction for all of it could block the writes of a server.
    for (let start = 0; start < changes.length; start += batchSize) {
      result.done += await store.replaceSealed(changes.slice(start, start + batchSize));
    }
    options.onProgress?.({ kekId, done: result.done, total });
    cursor = next;
  } while (cursor !== undefined);
}

/** Rewraps one item. A record that cannot be decrypted must not prevent the rotation of the others. */
function tryReseal(vault: Vault, item: SealedItem): Resealed | VaultError {
  try {
    return reseal(vault, item);
  } catch (error) {
    if (error instanceof VaultError) return error;
    throw error;
  }
}

function reseal(vault: Vault, item: SealedItem): Resealed {
  if (item.kind === 'data-key') {
    const wrapped = vault.rewrap(item.context, item.blob);
    if (wrapped !== null) return { item, kekId: wrapped.kekId, blob: wrapped.wrappedDataKey };
  } else {
    const value = vault.resealValue(item.context, item.blob);
    if (value !== null) return { item, ...value };
  }
  // The blob is already under the active key, but the row's key id is wrong and is corrected.
  return { item, kekId: sealedUnder(item.blob), blob: item.blob };
}

async function countAll(store: Pick<RotationStore, 'countUnder'>, kekIds: readonly string[]): Promise<number> {
  let count = 0;
  for (const kekId of kekIds) count += await store.countUnder(kekId);
  return count;
}
