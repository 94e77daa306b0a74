import type { AuthRequestRow } from '../../../db/store.ts';
import { Secret } from '../../secret.ts';
import { bindingDigest } from '../../vault/binding-digest.ts';
import { VaultError } from '../../vault/errors.ts';
import type { Vault } from '../../vault/vault.ts';
import type { Bound } from '../binding.ts';
import type { JsonObject } from '../merge.ts';
import type { RevocationPattern } from '../revocation-order.ts';
import type { Grant } from './authorization-client.ts';
import { pendingGrantContext } from './pending-context.ts';

/**
 * A grant that is not verified yet. It contains copies of the definitions it was made with, because these may be
 * deleted before the verification.
 */
export interface Pending {
  grant: Grant;
  provider: string;
  pattern: RevocationPattern;
  authorizationType: string;
  /** The account's configuration, including the values that the grant adds. */
  apiConfig: JsonObject;
  /** The binding of the grant according to the provider's definition. */
  declared: Bound;
}

type Place = Pick<AuthRequestRow, 'environmentId' | 'id' | 'origins'>;

/**
 * Encrypts a grant for its request. It is stored separately from the account, under its own key, so no code that reads
 * accounts can use it (threat L1). It is bound to the origins that it may be sent to (threat P2).
 */
export function sealPending(vault: Vault, place: Place, pending: Pending) {
  const { wrappedDataKey, kekId, sealed } = vault.sealRecord(contextOf(place), {
    pending: new Secret(JSON.stringify(pending)),
  });
  return { wrappedDataKey, kekId, pendingSealed: sealed.pending };
}

/** @throws VaultError if the row or its binding was altered */
export function openPending(vault: Vault, request: AuthRequestRow): Pending {
  const { wrappedDataKey, pendingSealed } = request;
  if (!wrappedDataKey || !pendingSealed) throw new TypeError('The authorization request has no credentials');
  const opened = vault.openRecord(contextOf(request), { wrappedDataKey, sealed: { pending: pendingSealed } });
  return JSON.parse(opened.pending.reveal()) as Pending;
}

/** Decrypts a grant that is to be discarded; returns undefined if there is none or it cannot be decrypted. */
export function tryOpenPending(vault: Vault, request: AuthRequestRow): Pending | undefined {
  try {
    return request.pendingSealed ? openPending(vault, request) : undefined;
  } catch (error) {
    if (error instanceof VaultError) return undefined;
    throw error;
  }
}

function contextOf({ environmentId, id, origins }: Place) {
  return { ...pendingGrantContext(environmentId, id), bindingDigest: bindingDigest(origins) };
}
