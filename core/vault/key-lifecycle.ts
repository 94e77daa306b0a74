import { RELOAD } from '../budgets.ts';
import type { RandomSource } from './aead.ts';
import { VaultError } from './errors.ts';
import type { KeyCheckStore } from './key-check.ts';
import { addKey, removeKey } from './key-file-edit.ts';
import { generateKey, type KeyRing } from './key-ring.ts';
import type { RotationStore } from './rotate.ts';

/**
 * Creates a new key and adds it to the key file as the active one. Its check value is stored first, because a running server may
 * encrypt with the key as soon as it is in the file.
 *
 * @param now milliseconds UTC
 * @returns the new key's id
 * @throws VaultError as `addKey`
 */
export async function introduceKey(
  keyFile: string,
  store: Pick<KeyCheckStore, 'addKeyCheck'>,
  random: RandomSource,
  now: number,
): Promise<string> {
  const { key, line } = generateKey(random);
  await store.addKeyCheck({ kekId: key.id, check: key.check, createdAt: now });
  addKey(keyFile, line);
  return key.id;
}

export interface Retirement {
  ring: KeyRing;
  store: Pick<RotationStore, 'forgetKeyCheck'> & Pick<KeyCheckStore, 'listKeyChecks'>;
  /** undefined if the keys come from a variable; then the operator must remove the line. */
  keyFile: string | undefined;
  /** Milliseconds UTC. */
  now: number;
}

/**
 * Permanently removes a key from the key file; fails while anything is encrypted under it, or could still be.
 *
 * @throws VaultError `KEY_IN_USE`, `UNKNOWN_KEY`, and as `removeKey`
 */
export async function retireKey(kekId: string, { ring, store, keyFile, now }: Retirement): Promise<void> {
  if (ring.get(kekId) === undefined) throw new VaultError('UNKNOWN_KEY', `The key ring has no key ${kekId}`);
  if (ring.active.id === kekId) throw new VaultError('KEY_IN_USE', `${kekId} is the active key: add another one first`);
  const checks = await store.listKeyChecks();
  const activeSince = checks.find((check) => check.kekId === ring.active.id)?.createdAt ?? now;
  if (now - activeSince < RELOAD.settledKeyMs) {
    const reason = 'a running request may still use the old one. Try again in a minute';
    throw new VaultError('KEY_IN_USE', `The key ${ring.active.id} became active less than a minute ago, and ${reason}`);
  }
  const left = await store.forgetKeyCheck(kekId);
  if (left > 0) throw new VaultError('KEY_IN_USE', `Still encrypted under ${kekId}, rotate first: ${left}`);
  if (keyFile !== undefined) removeKey(keyFile, kekId);
}
