import type { AuthField, AuthPattern } from '../connectors/auth-pattern.ts';
import type { PlacedCredential, PlacedPart, TokenCredential } from '../connectors/placement.ts';
import { ApiError } from '../errors.ts';
import { MASK } from '../secret.ts';
import type { Values } from './module.ts';

/** A token in `Authorization: Bearer`, or where the pattern says (RFC 6750 §2.1). */
export function placeBearer(pattern: AuthPattern, { accessToken }: TokenCredential): PlacedCredential {
  const token = mutated(pattern, 'access_token', accessToken.reveal());
  if (token === '') throw incomplete('The account has no access token');
  return placed([mainPart(pattern, token, pattern.auth_scheme ?? 'Bearer')], [accessToken.reveal(), token]);
}

/** The value of the one credential field; undefined when the pattern places every field. */
export function placeKey(pattern: AuthPattern, key: AuthField | undefined, values: Values, scheme: string) {
  if (!key) return [];
  const value = values(key.field_name);
  if (value === '') throw incomplete(`The account lacks the credential field ${key.field_name}`);
  return [mainPart(pattern, value, pattern.auth_scheme ?? scheme)];
}

/** The main credential: where the pattern says, by default in Authorization, after its scheme word. */
export function mainPart(pattern: AuthPattern, value: string, scheme: string): PlacedPart {
  const word = scheme === '' ? '' : `${scheme} `;
  const placement = pattern.placement ?? {
    in: 'header' as const,
    name: pattern.auth_header_key_override ?? 'Authorization',
  };
  return { ...placement, value: word + value, masked: word + MASK };
}

/** A value with what the pattern puts around it, or instead of an empty one. */
export function mutated(pattern: AuthPattern, field: string, stored: string): string {
  const mutation = mutationOf(pattern, field);
  const value = stored === '' ? (mutation?.default ?? '') : stored;
  // An optional field that is absent stays absent: a prefix alone is not a credential.
  return value === '' ? '' : `${mutation?.prefix ?? ''}${value}${mutation?.suffix ?? ''}`;
}

export function mutationOf({ auth_field_mutations: mutations }: AuthPattern, field: string) {
  return mutations && Object.hasOwn(mutations, field) ? mutations[field] : undefined;
}

/** Characters that no percent-encoding changes. */
const UNRESERVED = /^[A-Za-z0-9._~-]*$/;

/**
 * Checks the parts, and adds what their secrets are on the wire to the texts that must not come back.
 *
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS for a value that its header or cookie cannot carry
 */
export function placed(parts: PlacedPart[], secrets: string[]): PlacedCredential {
  const hidden = new Set<string>();
  const hide = (secret: string) => {
    if (secret === '') return;
    hidden.add(secret);
    if (!UNRESERVED.test(secret)) hidden.add(encodeURIComponent(secret.toWellFormed()));
  };
  secrets.forEach(hide);
  for (const part of parts) {
    checkPart(part);
    // The part as sent, without the scheme word.
    if (part.masked !== part.value) hide(part.value.replace(/^[A-Za-z0-9._-]+ /, ''));
  }
  return { parts, secrets: [...hidden] };
}

function checkPart(part: PlacedPart): void {
  if (part.in === 'header' && !/^[\x20-\x7e]*$/.test(part.value)) {
    throw incomplete(`The credential cannot be sent in the header ${part.name}: it has characters outside ASCII`);
  }
  if (part.in === 'cookie' && !/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(part.value)) {
    throw incomplete(`The credential cannot be sent in the cookie ${part.name}`);
  }
}

export function incomplete(message: string): ApiError {
  return new ApiError('INVALID_AUTHORIZATION_DETAILS', message);
}
