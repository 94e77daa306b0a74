import { ApiError } from '../errors.ts';
import { MASK, Secret } from '../secret.ts';
import type { RequestSigner } from '../tools/signer.ts';
import {
  type AuthField,
  type AuthPattern,
  credentialFieldOf,
  type FieldPlacement,
  isStaticType,
  secretFieldsOf,
  staticFieldsOf,
} from './auth-pattern.ts';

/** What an account authenticates with at this moment. */
export type Credential =
  | { kind: 'none' }
  | { kind: 'token'; accessToken: Secret; consumerKey?: string }
  | {
      kind: 'static';
      details: Readonly<Record<string, Secret>>;
      /** The fields that were secret when they were given. They stay so, whatever the pattern says now. */
      secret?: ReadonlySet<string>;
    }
  /** Has no place of its own: the request as a whole is signed. */
  | { kind: 'signer'; signer: RequestSigner };

/** One part of a request that carries a credential. `masked` is what people may see of it. */
export interface PlacedPart {
  in: FieldPlacement['in'];
  name: string;
  value: string;
  masked: string;
}

export interface PlacedCredential {
  parts: PlacedPart[];
  /** Every text that must not come back in an answer: the secrets and what they became on the wire. */
  secrets: string[];
}

/**
 * Says where the credential of an account goes in a request of its provider.
 *
 * @param pattern the auth pattern that the account uses
 * @returns the parts to add, none for NO_AUTH and for calls that are signed
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS when the stored credential is incomplete or cannot stand in its place
 */
export function placeCredential(pattern: AuthPattern, credential: Credential): PlacedCredential {
  if (credential.kind === 'signer') return { parts: [], secrets: [...credential.signer.secrets] };
  switch (pattern.type) {
    case 'NO_AUTH':
      return { parts: [], secrets: [] };
    case 'API_KEY':
      return placeStatic(pattern, credential, (values) => keyPart(pattern, values, ''));
    case 'BEARER_TOKEN':
      return placeStatic(pattern, credential, (values) => keyPart(pattern, values, 'Bearer'));
    case 'BASIC':
    case 'BASIC_AUTH':
      return placeStatic(pattern, credential, (values) => [
        mainPart(pattern, basicPair(values), pattern.auth_scheme ?? 'Basic'),
      ]);
    case 'CUSTOM':
      return placeStatic(pattern, credential, () => []);
    case 'BOARD_OAUTH1':
      return credential.kind === 'static'
        ? placeStatic(pattern, credential, () => [])
        : placeOAuth1(pattern, credential);
    default:
      return placeToken(pattern, credential);
  }
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
    const { parts } = placeCredential(pattern, isStaticType(pattern.type) ? { kind: 'static', details } : token);
    return parts.map(({ in: place, name, value }) => [place, name, value]);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

/**
 * What is sent as the value of a field. A mutation can give one to a name that nobody types: the fixed password of a key sent as user
 * name.
 */
type Values = (name: string) => string;

function placeStatic(
  pattern: AuthPattern,
  credential: Credential,
  main: (values: Values) => PlacedPart[],
): PlacedCredential {
  if (credential.kind !== 'static') throw incomplete('The account holds no static credential');
  const fields = staticFieldsOf(pattern);
  const stored = (name: string) =>
    Object.hasOwn(credential.details, name) ? (credential.details[name]?.reveal() ?? '') : '';
  const values: Values = (name) => {
    const isKnown = fields.some((field) => field.field_name === name) || mutationOf(pattern, name) !== undefined;
    return mutated(pattern, name, isKnown ? stored(name) : '');
  };
  const isHidden = hiddenIn(pattern, credential);
  const parts = main(values);
  for (const field of fields) {
    const placement = placementOf(pattern, field);
    if (placement) parts.push(...placedField(field, placement, values, isHidden(field.field_name)));
  }
  const names = new Set([...fields.map((field) => field.field_name), ...Object.keys(credential.details)]);
  const secrets = [...names].filter(isHidden).flatMap((name) => [stored(name), values(name)]);
  return finish(parts, secrets);
}

/** Shown is what was public when it was given and is public now; everything else is masked and scrubbed. */
function hiddenIn(pattern: AuthPattern, { secret: given }: Credential & { kind: 'static' }): (name: string) => boolean {
  const shown = new Set(staticFieldsOf(pattern).map((field) => field.field_name));
  const secret = secretFieldsOf(pattern);
  return (name) => !shown.has(name) || secret.has(name) || given?.has(name) === true;
}

/** A CUSTOM field goes into a header of its own name unless it says otherwise or belongs into the address. */
function placementOf(pattern: AuthPattern, field: AuthField): FieldPlacement | undefined {
  if (field.placement || pattern.type !== 'CUSTOM' || field.is_path_param) return field.placement;
  return { in: 'header', name: field.field_name };
}

function placedField(field: AuthField, placement: FieldPlacement, values: Values, isHidden: boolean): PlacedPart[] {
  const value = values(field.field_name);
  return value === '' ? [] : [{ ...placement, value, masked: isHidden ? MASK : value }];
}

function placeToken(pattern: AuthPattern, credential: Credential): PlacedCredential {
  if (credential.kind !== 'token') throw incomplete('The account holds no access token');
  const token = mutated(pattern, 'access_token', credential.accessToken.reveal());
  if (token === '') throw incomplete('The account holds no access token');
  return finish([mainPart(pattern, token, pattern.auth_scheme ?? 'Bearer')], [credential.accessToken.reveal(), token]);
}

/** The token-only form of boards that issue their tokens in a fragment: no signature, key and token as parameters. */
function placeOAuth1(pattern: AuthPattern, credential: Credential): PlacedCredential {
  if (credential.kind !== 'token') throw incomplete('The account holds no access token');
  const token = credential.accessToken.reveal();
  if (pattern.placement) return finish([{ ...pattern.placement, value: token, masked: MASK }], [token]);
  const quoted = (text: string) => `"${encodeURIComponent(text)}"`;
  const key = credential.consumerKey === undefined ? '' : `oauth_consumer_key=${quoted(credential.consumerKey)}, `;
  const name = pattern.auth_header_key_override ?? 'Authorization';
  const part: PlacedPart = {
    in: 'header',
    name,
    value: `OAuth ${key}oauth_token=${quoted(token)}`,
    masked: `OAuth ${key}oauth_token="${MASK}"`,
  };
  return finish([part], [token]);
}

/** The sole credential; nothing when every field of the pattern has a place of its own. */
function keyPart(pattern: AuthPattern, values: Values, scheme: string): PlacedPart[] {
  const field = credentialFieldOf(pattern);
  if (!field) return [];
  const value = values(field.field_name);
  if (value === '') throw incomplete(`The account lacks the credential field ${field.field_name}`);
  return [mainPart(pattern, value, pattern.auth_scheme ?? scheme)];
}

function basicPair(values: Values): string {
  const user = values('username');
  const password = values('password');
  // RFC 7617 §2: a user name with a colon would be read as another user.
  if (user.includes(':')) throw incomplete('A user name with a colon cannot be sent by Basic authentication');
  if (user === '' && password === '') throw incomplete('The account holds neither user name nor password');
  return Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
}

/** The main credential: where the pattern says, by default in Authorization, after its scheme word. */
function mainPart(pattern: AuthPattern, value: string, scheme: string): PlacedPart {
  const word = scheme === '' ? '' : `${scheme} `;
  const placement = pattern.placement ?? {
    in: 'header' as const,
    name: pattern.auth_header_key_override ?? 'Authorization',
  };
  return { ...placement, value: word + value, masked: word + MASK };
}

function mutated(pattern: AuthPattern, field: string, stored: string): string {
  const mutation = mutationOf(pattern, field);
  const value = stored === '' ? (mutation?.default ?? '') : stored;
  // An optional field that is absent stays absent: a prefix alone is not a credential.
  return value === '' ? '' : `${mutation?.prefix ?? ''}${value}${mutation?.suffix ?? ''}`;
}

function mutationOf({ auth_field_mutations: mutations }: AuthPattern, field: string) {
  return mutations && Object.hasOwn(mutations, field) ? mutations[field] : undefined;
}

/** Characters that no percent-encoding changes. */
const UNRESERVED = /^[A-Za-z0-9._~-]*$/;

function finish(parts: PlacedPart[], secrets: string[]): PlacedCredential {
  const hidden = new Set<string>();
  const hide = (secret: string) => {
    if (secret === '') return;
    hidden.add(secret);
    if (!UNRESERVED.test(secret)) hidden.add(encodeURIComponent(secret.toWellFormed()));
  };
  secrets.forEach(hide);
  for (const part of parts) {
    checkPart(part);
    // What of it is on the wire, without the scheme word.
    if (part.masked !== part.value) hide(part.value.replace(/^[A-Za-z0-9._-]+ /, ''));
  }
  return { parts, secrets: [...hidden] };
}

function checkPart(part: PlacedPart): void {
  if (part.in === 'header' && !/^[\x20-\x7e]*$/.test(part.value)) {
    throw incomplete(`The credential cannot stand in the header ${part.name}: it holds characters outside ASCII`);
  }
  if (part.in === 'cookie' && !/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(part.value)) {
    throw incomplete(`The credential cannot stand in the cookie ${part.name}`);
  }
}

function incomplete(message: string): ApiError {
  return new ApiError('INVALID_AUTHORIZATION_DETAILS', message);
}
