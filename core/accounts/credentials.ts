import type { AccountBinding } from '../../db/store.ts';
import { Secret } from '../secret.ts';
import { bindingDigest } from '../vault/binding-digest.ts';
import type { RecordContext } from '../vault/context.ts';
import type { Vault } from '../vault/vault.ts';
import type { Details } from './authorization-details.ts';
import { formOf } from './details.ts';

/** The values that the encrypted credentials of an account are bound to. Decryption fails if one of them differs. */
export interface AccountSealContext {
  environmentId: string;
  id: string;
  /** Increases with every write of the credentials. */
  credentialGeneration: number;
  /** The origins that the credential may be sent to. */
  origins: readonly string[];
  binding: AccountBinding;
}

/** The columns of an account that contain its credentials. All are null for an account without credentials. */
export interface SealedCredentials {
  wrappedDataKey: Buffer | null;
  kekId: string | null;
  /**
   * Credentials that were supplied: tokens, entered keys, or a subject (the user that a service account acts for).
   * Valetkey cannot obtain them again.
   */
  credentialsSealed: Buffer | null;
  /** Tokens that Valetkey obtained itself. They expire and can be obtained again. */
  temporarySealed: Buffer | null;
}

export const NO_CREDENTIALS: SealedCredentials = {
  wrappedDataKey: null,
  kekId: null,
  credentialsSealed: null,
  temporarySealed: null,
};

/**
 * Encrypts the credentials of an account with a new data key.
 *
 * @param given what the caller or the provider supplied
 * @param temporary what Valetkey obtained itself; empty if it obtained nothing
 */
export function sealCredentials(
  vault: Vault,
  place: AccountSealContext,
  given: Details,
  temporary: Details = {},
): SealedCredentials {
  if (formOf(given) === null && formOf(temporary) === null) return NO_CREDENTIALS;
  const fields: Record<string, Secret> = { credentials: new Secret(JSON.stringify(given)) };
  if (formOf(temporary) !== null) fields['temporary'] = new Secret(JSON.stringify(temporary));
  const record = vault.sealRecord(contextOf(place), fields);
  return {
    wrappedDataKey: record.wrappedDataKey,
    kekId: record.kekId,
    credentialsSealed: record.sealed['credentials'] ?? null,
    temporarySealed: record.sealed['temporary'] ?? null,
  };
}

/**
 * Decrypts the credentials of an account.
 *
 * @returns the supplied and the obtained credentials, combined by `combineDetails`; empty if the account has none
 * @throws VaultError if the row, one of its columns or its binding was altered
 */
export function openCredentials(vault: Vault, place: AccountSealContext, sealed: SealedCredentials): Details {
  const { wrappedDataKey, credentialsSealed, temporarySealed } = sealed;
  if (!wrappedDataKey || !credentialsSealed) return {};
  const fields: Record<string, Buffer> = { credentials: credentialsSealed };
  if (temporarySealed) fields['temporary'] = temporarySealed;
  const opened = vault.openRecord(contextOf(place), { wrappedDataKey, sealed: fields });
  const given = readDetails(opened['credentials']);
  return temporarySealed ? combineDetails(given, readDetails(opened['temporary'])) : given;
}

/**
 * Decrypts only the credentials that were supplied, without those that Valetkey obtained. Throws as `openCredentials`
 * does.
 */
export function openGivenCredentials(vault: Vault, place: AccountSealContext, sealed: SealedCredentials): Details {
  return openCredentials(vault, place, { ...sealed, temporarySealed: null });
}

function readDetails(secret: Secret | undefined): Details {
  return JSON.parse(secret?.reveal() ?? '{}') as Details;
}

/**
 * Returns the details that calls use: the obtained credentials, merged into the supplied ones of the same form.
 * Supplied credentials of another form, such as an entered OAuth client, are left out.
 */
export function combineDetails(given: Details, temporary: Details): Details {
  const form = formOf(temporary) as string;
  return { [form]: { ...given[form], ...temporary[form] } };
}

function contextOf(place: AccountSealContext): RecordContext {
  return {
    table: 'accounts',
    environmentId: place.environmentId,
    recordId: place.id,
    generation: place.credentialGeneration,
    bindingDigest: bindingDigest(place.origins, termsOf(place.binding)),
  };
}

function termsOf({ base, use, fields, issued, endpoints }: AccountBinding): string[] {
  const secrecy = Object.keys(fields)
    .sort()
    .map((name) => [name, fields[name]]);
  return [JSON.stringify([base, use, secrecy, issued, endpoints])];
}
