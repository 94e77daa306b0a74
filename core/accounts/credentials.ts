import type { AccountBinding } from '../../db/store.ts';
import { Secret } from '../secret.ts';
import { bindingDigest } from '../vault/binding-digest.ts';
import type { RecordContext } from '../vault/context.ts';
import type { Vault } from '../vault/vault.ts';
import type { Details } from './details.ts';
import { formOf } from './details.ts';

/** What the sealed credentials of an account are bound to. */
export interface AccountPlace {
  environmentId: string;
  id: string;
  /** Grows with every credential write. */
  credentialGeneration: number;
  /** Where the credential may be sent, and what else it was given for; part of what is authenticated. */
  origins: readonly string[];
  binding: AccountBinding;
}

/** The columns of an account that hold its credentials. All are null for an account without any. */
export interface SealedCredentials {
  wrappedDataKey: Buffer | null;
  kekId: string | null;
  /** Credentials that do not expire: tokens, entered keys, a subject. */
  credentialsSealed: Buffer | null;
  /** What the service obtained for a while and can obtain again. */
  temporarySealed: Buffer | null;
}

export const NO_CREDENTIALS: SealedCredentials = {
  wrappedDataKey: null,
  kekId: null,
  credentialsSealed: null,
  temporarySealed: null,
};

/**
 * Seals the credentials of an account under a fresh data key.
 *
 * @param given what the caller or the provider gave
 * @param temporary what the service obtained by itself, if anything
 */
export function sealCredentials(
  vault: Vault,
  place: AccountPlace,
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
 * Opens the credentials of an account.
 *
 * @returns what was given, and what the service obtained, under one form
 * @throws VaultError when a row, a field or its place was altered
 */
export function openCredentials(vault: Vault, place: AccountPlace, sealed: SealedCredentials): Details {
  const { wrappedDataKey, credentialsSealed, temporarySealed } = sealed;
  if (!wrappedDataKey || !credentialsSealed) return {};
  const fields: Record<string, Buffer> = { credentials: credentialsSealed };
  if (temporarySealed) fields['temporary'] = temporarySealed;
  const opened = vault.openRecord(contextOf(place), { wrappedDataKey, sealed: fields });
  const given = readDetails(opened['credentials']);
  return temporarySealed ? combineDetails(given, readDetails(opened['temporary'])) : given;
}

/** Opens what the account was given alone. Errors as above. */
export function openGiven(vault: Vault, place: AccountPlace, sealed: SealedCredentials): Details {
  return openCredentials(vault, place, { ...sealed, temporarySealed: null });
}

function readDetails(secret: Secret | undefined): Details {
  return JSON.parse(secret?.reveal() ?? '{}') as Details;
}

/** What calls use: a token that was obtained stands for the client that it was obtained with. */
export function combineDetails(given: Details, temporary: Details): Details {
  const form = formOf(temporary) as string;
  return { [form]: { ...given[form], ...temporary[form] } };
}

function contextOf(place: AccountPlace): RecordContext {
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
