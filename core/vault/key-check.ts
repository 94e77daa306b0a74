import { timingSafeEqual } from 'node:crypto';
import { VaultError } from './errors.ts';
import type { KeyRing } from './key-ring.ts';

export interface KeyCheck {
  kekId: string;
  /** 32 bytes that are derived from the key. They identify the key and reveal nothing about it. */
  check: Buffer;
  /** When this check value was created, milliseconds UTC. */
  createdAt: number;
}

/** The check values that are stored with the data. Rows that name a key-encryption key reference its check value. */
export interface KeyCheckStore {
  listKeyChecks(): Promise<KeyCheck[]>;
  /** Stores a check value; an existing one is not changed. */
  addKeyCheck(check: KeyCheck): Promise<void>;
  /** Returns how many data keys and values are encrypted under the key. */
  countUnder(kekId: string): Promise<number>;
}

/**
 * Checks at every start, before anything is decrypted or encrypted, that the ring is the one that encrypted the data.
 * Then stores a check value for each key that has none.
 *
 * @param now milliseconds UTC
 * @throws VaultError `KEY_CHECK_FAILED` if a key differs from its stored check value, `UNKNOWN_KEY` if a key is missing
 * that rows are encrypted under
 */
export async function verifyKeyChecks(ring: KeyRing, store: KeyCheckStore, now: number): Promise<void> {
  const stored = await store.listKeyChecks();
  for (const { kekId, check } of stored) {
    const key = ring.get(kekId);
    if (key === undefined) await refuseWhenNeeded(kekId, store);
    else if (!sameCheck(key.check, check)) throw exchanged(kekId);
  }
  const known = new Set(stored.map(({ kekId }) => kekId));
  for (const { id, check } of ring.keys()) {
    if (!known.has(id)) await store.addKeyCheck({ kekId: id, check, createdAt: now });
  }
}

function sameCheck(ours: Buffer, stored: Buffer): boolean {
  return ours.length === stored.length && timingSafeEqual(ours, stored);
}

async function refuseWhenNeeded(kekId: string, store: KeyCheckStore): Promise<void> {
  const records = await store.countUnder(kekId);
  if (records === 0) return;
  const found = `${records} encrypted ${records === 1 ? 'record needs' : 'records need'} the key ${kekId}`;
  throw new VaultError(
    'UNKNOWN_KEY',
    `${found}, which is missing. Start with the key file, or VALETKEY_KEYS, that contains it.`,
  );
}

function exchanged(kekId: string): VaultError {
  const advice = 'Start with the key file, or VALETKEY_KEYS, of this database.';
  return new VaultError(
    'KEY_CHECK_FAILED',
    `The key ${kekId} is not the one that encrypted the stored data. ${advice}`,
  );
}
