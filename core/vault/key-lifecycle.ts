import { RELOAD } from '../budgets.ts';
import type { RandomSource } from './aead.ts';
import { VaultError } from './errors.ts';
import type { KeyCheckStore } from './key-check.ts';
import { addKey, addStandbyKey, removeKey } from './key-file-edit.ts';
import { generateKey, type KeyRing } from './key-ring.ts';
import type { RotationStore } from './rotate.ts';

/**
 * Creates a new key and adds it to the key file: as the active one, or as a standby key that only decrypts. Its check
 * value is stored first, because a running server may encrypt with the key as soon as it is in the file.
 *
 * @param now milliseconds UTC
 * @param add adds the key as the active one (`addKey`) or as a standby key (`addStandbyKey`)
 * @returns the new key's id
 * @throws VaultError as `addKey`
 */
export async function createAndAddKey(
  keyFile: string,
  store: Pick<KeyCheckStore, 'addKeyCheck'>,
  random: RandomSource,
  now: number,
  add: typeof addKey = addKey,
): Promise<string> {
  const { key, line } = generateKey(random);
  await store.addKeyCheck({ kekId: key.id, check: key.check, createdAt: now });
  add(keyFile, line);
  return key.id;
}

/**
 * Adds a new key that only decrypts. If several servers share the database, a key may encrypt only after all servers
 * have it. Otherwise one server would write data that another server cannot decrypt.
 *
 * @returns the new key's id
 * @throws VaultError as `createAndAddKey`
 */
export function introduceStandbyKey(...args: [...Parameters<typeof createAndAddKey>]): Promise<string> {
  const [keyFile, store, random, now] = args;
  return createAndAddKey(keyFile, store, random, now, addStandbyKey);
}

/** Returns the newest key of a ring that has never been used to encrypt; undefined if there is none. */
export async function standbyKey(
  { ids }: KeyRing,
  store: Pick<KeyCheckStore, 'listKeyChecks'>,
): Promise<string | undefined> {
  return newestStandby(ids, await store.listKeyChecks());
}

/**
 * Returns the newest key that has never been used to encrypt: one that was created after the active key. Returns
 * undefined if there is none.
 *
 * @param ids the keys of a ring, the active one first
 * @param checks the check values of the keys, with the times of their creation
 */
export function newestStandby(
  ids: readonly string[],
  checks: readonly { kekId: string; createdAt: number }[],
): string | undefined {
  const activeSince = checks.find(({ kekId }) => kekId === ids[0])?.createdAt ?? Number.POSITIVE_INFINITY;
  const newer = checks.filter(({ kekId, createdAt }) => ids.includes(kekId) && createdAt > activeSince);
  return newer.toSorted((a, b) => b.createdAt - a.createdAt)[0]?.kekId;
}

export interface Retirement {
  /** How many servers encrypt with another key than the active one of `ring`; none by default. */
  serversBehind?: number;
  ring: KeyRing;
  store: Pick<RotationStore, 'forgetKeyCheck'> & Pick<KeyCheckStore, 'listKeyChecks'>;
  /** undefined if the keys come from a variable; then the operator must remove the line. */
  keyFile: string | undefined;
  /** Milliseconds UTC. */
  now: number;
}

/**
 * Permanently removes a key from the key file, and its check value from the database. Fails while data is encrypted
 * under the key, or while a server may still encrypt with it. If there is no key file, the operator must then remove
 * the key from the variable.
 *
 * @throws VaultError `KEY_IN_USE`, `UNKNOWN_KEY`, and as `removeKey`
 */
export async function retireKey(
  kekId: string,
  { ring, store, keyFile, now, serversBehind = 0 }: Retirement,
): Promise<void> {
  if (ring.get(kekId) === undefined) {
    throw new VaultError('UNKNOWN_KEY', `There is no key ${kekId}: \`valetkey keys list\` shows the keys`);
  }
  if (ring.active.id === kekId)
    throw new VaultError('KEY_IN_USE', `${kekId} is the active key: run \`valetkey keys rotate\` first`);
  if (serversBehind > 0) {
    const advice =
      keyFile === undefined
        ? 'restart all servers with the same VALETKEY_KEYS, and try again'
        : 'copy the key file to the machines of all servers, and try again some seconds later';
    throw new VaultError(
      'KEY_IN_USE',
      `Running servers (${serversBehind}) still encrypt with another key than ${ring.active.id}: ${advice}`,
    );
  }
  const checks = await store.listKeyChecks();
  const activeSince = checks.find((check) => check.kekId === ring.active.id)?.createdAt ?? now;
  if (now - activeSince < RELOAD.settledKeyMs) {
    const reason = 'a running request may still use the old one. Try again in a minute';
    throw new VaultError('KEY_IN_USE', `The key ${ring.active.id} became active less than a minute ago, and ${reason}`);
  }
  const left = await store.forgetKeyCheck(kekId);
  if (left > 0)
    throw new VaultError(
      'KEY_IN_USE',
      `The key ${kekId} still encrypts records (${left} left): run \`valetkey keys rotate\` first`,
    );
  if (keyFile !== undefined) removeKey(keyFile, kekId);
}
