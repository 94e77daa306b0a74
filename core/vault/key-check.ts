import { timingSafeEqual } from 'node:crypto';
import { VaultError } from './errors.ts';
import type { KeyRing } from './key-ring.ts';

export interface KeyCheck {
  kekId: string;
  /** 32 bytes. */
  check: Buffer;
  /** When the key was first met, milliseconds UTC. */
  createdAt: number;
}

/** The check values stored beside the data. Rows that name a key-encryption key reference theirs. */
export interface KeyCheckStore {
  listKeyChecks(): Promise<KeyCheck[]>;
  /** Stores a check; one that is there already stays as it is. */
  addKeyCheck(check: KeyCheck): Promise<void>;
  /** How many data keys and values are sealed under the key. */
  countUnder(kekId: string): Promise<number>;
}

/**
 * Done at every start, before anything is opened or sealed: is this the ring that sealed the data? Then stores a check for each
 * key that has none.
 *
 * @param now milliseconds UTC
 * @throws VaultError `KEY_CHECK_FAILED` when a key is another one than the stored check says, `UNKNOWN_KEY` when a key is
 *   missing that records are sealed under
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
    `${found}, which the key ring does not have. Start with the key ring that has it.`,
  );
}

function exchanged(kekId: string): VaultError {
  const advice = 'Start with the key ring that belongs to this database.';
  return new VaultError(
    'KEY_CHECK_FAILED',
    `The key ${kekId} is not the one that encrypted the stored data. ${advice}`,
  );
}
