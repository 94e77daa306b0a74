import { secretFieldsOf, staticFieldsOf } from '../authorization/fields.ts';
import type { TypedRules, Values } from '../authorization/module.ts';
import { incomplete, mutated, mutationOf, placed } from '../authorization/placing.ts';
import { moduleOf } from '../authorization/registry.ts';
import { ApiError } from '../errors.ts';
import { MASK, Secret } from '../secret.ts';
import type { RequestSigner } from '../tools/signer.ts';
import type { AuthField, AuthPattern, FieldPlacement } from './auth-pattern.ts';

/** What an account authenticates with at this moment. */
export type Credential =
  | { kind: 'none' }
  | TokenCredential
  | StaticCredential
  /** Has no fixed place: the whole request is signed. */
  | { kind: 'signer'; signer: RequestSigner };

export interface TokenCredential {
  kind: 'token';
  accessToken: Secret;
  /** The client id of the connection. */
  consumerKey?: string;
}

export interface StaticCredential {
  kind: 'static';
  details: Readonly<Record<string, Secret>>;
  /** The fields that were secret when they were set. They stay secret even if the pattern changes. */
  secret?: ReadonlySet<string>;
}

/** One part of a request that carries a credential. `masked` is what people may see of it. */
export interface PlacedPart {
  in: FieldPlacement['in'];
  name: string;
  value: string;
  masked: string;
}

export interface PlacedCredential {
  parts: PlacedPart[];
  /** Every text that must not appear in a response: the secrets and their encodings in the request. */
  secrets: string[];
}

/**
 * Returns where a request carries the credential of an account.
 *
 * @param pattern the auth pattern that the account uses
 * @returns the parts to add; empty for accounts without credentials and for signed calls
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS if the stored credential is incomplete or has characters that its place does not
 * allow
 */
export function placeCredential(pattern: AuthPattern, credential: Credential): PlacedCredential {
  if (credential.kind === 'signer') return { parts: [], secrets: [...credential.signer.secrets] };
  const { forms, typed, placeToken } = moduleOf(pattern.type);
  if (forms.length === 0) return { parts: [], secrets: [] };
  if (typed?.place && credential.kind === 'static') return placeStatic(pattern, credential, typed);
  if (!placeToken) throw incomplete('The account has no static credential');
  if (credential.kind !== 'token') throw incomplete('The account has no access token');
  return placeToken(pattern, credential);
}

/** One part of a request, with the names of fields in the place of their values. */
export type OutlinedPart = [place: FieldPlacement['in'], name: string, value: string];

/**
 * Where and how requests carry a credential that holds these fields: what they would carry if each value was the name of its field.
 * Two outlines are equal when every value goes to the same place in the same form.
 *
 * @param fields the names of the static fields that are held; for a token they do not matter
 * @returns null when the pattern cannot place such a credential
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

function placeStatic(pattern: AuthPattern, credential: StaticCredential, typed: TypedRules): PlacedCredential {
  const fields = staticFieldsOf(pattern);
  const stored = (name: string) =>
    Object.hasOwn(credential.details, name) ? (credential.details[name]?.reveal() ?? '') : '';
  // A mutation can give a value to a name that no field has: the fixed password of a key that is sent as user name.
  const values: Values = (name) => {
    const isKnown = fields.some((field) => field.field_name === name) || mutationOf(pattern, name) !== undefined;
    return mutated(pattern, name, isKnown ? stored(name) : '');
  };
  const isHidden = hiddenIn(pattern, credential);
  const parts = typed.place?.(pattern, fields, values) ?? [];
  for (const field of fields) {
    const placement = field.placement ?? (field.is_path_param ? undefined : typed.placeField?.(field));
    if (placement) parts.push(...placedField(field, placement, values, isHidden(field.field_name)));
  }
  const names = new Set([...fields.map((field) => field.field_name), ...Object.keys(credential.details)]);
  const secrets = [...names].filter(isHidden).flatMap((name) => [stored(name), values(name)]);
  return placed(parts, secrets);
}

/** Shown is what was public when it was given and is public now; everything else is masked and scrubbed. */
function hiddenIn(pattern: AuthPattern, { secret: given }: StaticCredential): (name: string) => boolean {
  const shown = new Set(staticFieldsOf(pattern).map((field) => field.field_name));
  const secret = secretFieldsOf(pattern);
  return (name) => !shown.has(name) || secret.has(name) || given?.has(name) === true;
}

function placedField(field: AuthField, placement: FieldPlacement, values: Values, isHidden: boolean): PlacedPart[] {
  const value = values(field.field_name);
  return value === '' ? [] : [{ ...placement, value, masked: isHidden ? MASK : value }];
}
