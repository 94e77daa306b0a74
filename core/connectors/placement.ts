import { secretFieldsOf, staticFieldsOf } from '../authorization/fields.ts';
import type { EntryRules, Values } from '../authorization/module.ts';
import { incomplete, mutated, mutationOf, placed } from '../authorization/placing.ts';
import { moduleOf } from '../authorization/registry.ts';
import { ApiError } from '../errors.ts';
import { MASK, Secret } from '../secret.ts';
import type { AuthField, AuthPattern, FieldPlacement } from './auth-pattern.ts';
import type { Credential, PlacedCredential, PlacedPart, StaticCredential } from './credential.ts';

/**
 * Returns where a request carries the credential of an account.
 *
 * @param pattern the auth pattern that the account uses
 * @returns the parts to add (none for accounts without credentials and for signed calls), and the texts that responses
 * must not contain
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS if the stored credential is incomplete or has characters that its
 * place does not allow
 */
export function placeCredential(pattern: AuthPattern, credential: Credential): PlacedCredential {
  if (credential.kind === 'signer') return { parts: [], secrets: [...credential.signer.secrets] };
  const { forms, entered, placeToken } = moduleOf(pattern.type);
  if (forms.length === 0) return { parts: [], secrets: [] };
  if (entered?.place && credential.kind === 'static') return placeStatic(pattern, credential, entered);
  if (!placeToken) throw incomplete('The account has no credentials of its type');
  if (credential.kind !== 'token') throw incomplete('The account has no access token');
  return placeToken(pattern, credential);
}

/** A part of a request with field names in place of their values. */
export type OutlinedPart = [place: FieldPlacement['in'], name: string, value: string];

/**
 * Returns where and how requests contain a credential with these fields, with the name of each field in place of its
 * value. Two outlines are equal if every value is sent in the same place and form.
 *
 * @param fields the names of the static fields of the credential; ignored for a token
 * @returns null if the pattern cannot place such a credential
 */
export function placementOutline(pattern: AuthPattern, fields: readonly string[]): OutlinedPart[] | null {
  const details = Object.fromEntries(fields.map((name) => [name, new Secret(`{{${name}}}`)]));
  const token = { kind: 'token', accessToken: new Secret('{{access_token}}'), consumerKey: '{{client_id}}' } as const;
  try {
    const { parts } = placeCredential(pattern, moduleOf(pattern.type).placeToken ? token : { kind: 'static', details });
    return parts.map(({ in: place, name, value }) => [place, name, value]);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

function placeStatic(pattern: AuthPattern, credential: StaticCredential, entered: EntryRules): PlacedCredential {
  const fields = staticFieldsOf(pattern);
  const stored = (name: string) =>
    Object.hasOwn(credential.details, name) ? (credential.details[name]?.reveal() ?? '') : '';
  // A mutation (a prefix, a suffix or a default) can supply a value that has no field. An example is the fixed password
  // of an API that expects a key as the user name.
  const values: Values = (name) => {
    const isKnown = fields.some((field) => field.field_name === name) || mutationOf(pattern, name) !== undefined;
    return mutated(pattern, name, isKnown ? stored(name) : '');
  };
  const isHidden = hiddenIn(pattern, credential);
  const parts = entered.place?.(pattern, fields, values) ?? [];
  for (const field of fields) {
    const placement = field.placement ?? (field.is_path_param ? undefined : entered.placeField?.(field));
    if (placement) parts.push(...placedField(field, placement, values, isHidden(field.field_name)));
  }
  const names = new Set([...fields.map((field) => field.field_name), ...Object.keys(credential.details)]);
  const secrets = [...names].filter(isHidden).flatMap((name) => [stored(name), values(name)]);
  return placed(parts, secrets);
}

/**
 * Returns which fields are masked and removed from responses: all except those that were public when they were supplied
 * and are public now.
 */
function hiddenIn(pattern: AuthPattern, { secret: given }: StaticCredential): (name: string) => boolean {
  const shown = new Set(staticFieldsOf(pattern).map((field) => field.field_name));
  const secret = secretFieldsOf(pattern);
  return (name) => !shown.has(name) || secret.has(name) || given?.has(name) === true;
}

function placedField(field: AuthField, placement: FieldPlacement, values: Values, isHidden: boolean): PlacedPart[] {
  const value = values(field.field_name);
  return value === '' ? [] : [{ ...placement, value, masked: isHidden ? MASK : value }];
}
