import type { AuthField, AuthPattern } from '../connectors/auth-pattern.ts';
import type { PlacedCredential, PlacedPart, TokenCredential } from '../connectors/credential.ts';
import { ApiError } from '../errors.ts';
import { MASK } from '../secret.ts';
import type { Values } from './module.ts';

/** Places a token in `Authorization: Bearer`, or where the pattern says (RFC 6750 §2.1). */
export function placeBearer(pattern: AuthPattern, { accessToken }: TokenCredential): PlacedCredential {
  const token = mutated(pattern, 'access_token', accessToken.reveal());
  if (token === '') throw incomplete('The account has no access token');
  return placed([mainPart(pattern, token, pattern.auth_scheme ?? 'Bearer')], [accessToken.reveal(), token]);
}

/** Places the value of the only credential field. Places nothing if the pattern places every field itself. */
export function placeKey(pattern: AuthPattern, key: AuthField | undefined, values: Values, scheme: string) {
  if (!key) return [];
  const value = values(key.field_name);
  if (value === '') throw incomplete(`The account lacks the credential field ${key.field_name}`);
  return [mainPart(pattern, value, pattern.auth_scheme ?? scheme)];
}

/** Places the main credential where the pattern says; by default in the Authorization header, after the scheme. */
export function mainPart(pattern: AuthPattern, value: string, scheme: string): PlacedPart {
  const word = scheme === '' ? '' : `${scheme} `;
  const placement = pattern.placement ?? {
    in: 'header' as const,
    name: pattern.auth_header_key_override ?? 'Authorization',
  };
  return { ...placement, value: word + value, masked: word + MASK };
}

/**
 * Adds the pattern's prefix and suffix to a value (`auth_field_mutations`). An empty value is replaced by the pattern's
 * default, if there is one.
 */
export function mutated(pattern: AuthPattern, field: string, stored: string): string {
  const mutation = mutationOf(pattern, field);
  const value = stored === '' ? (mutation?.default ?? '') : stored;
  // An empty optional field stays empty: a prefix alone is not a credential.
  return value === '' ? '' : `${mutation?.prefix ?? ''}${value}${mutation?.suffix ?? ''}`;
}

export function mutationOf({ auth_field_mutations: mutations }: AuthPattern, field: string) {
  return mutations && Object.hasOwn(mutations, field) ? mutations[field] : undefined;
}

/** Characters that percent-encoding leaves unchanged. */
const UNRESERVED = /^[A-Za-z0-9._~-]*$/;

/**
 * Checks the parts of a credential, and collects its secrets in every encoding in which they are sent, so that they can
 * be removed from responses.
 *
 * @throws ApiError INVALID_AUTHORIZATION_DETAILS for a value that a header or cookie cannot contain
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
    // The value as sent, without the scheme.
    if (part.masked !== part.value) hide(part.value.replace(/^[A-Za-z0-9._-]+ /, ''));
  }
  return { parts, secrets: [...hidden] };
}

function checkPart(part: PlacedPart): void {
  if (part.in === 'header' && !/^[\x20-\x7e]*$/.test(part.value)) {
    throw incomplete(`The credential cannot be sent in the header ${part.name}: it has characters outside ASCII`);
  }
  if (part.in === 'cookie' && !/^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/.test(part.value)) {
    throw incomplete(
      `The credential cannot be sent in the cookie ${part.name}: it has characters that a cookie cannot contain`,
    );
  }
}

export function incomplete(message: string): ApiError {
  return new ApiError('INVALID_AUTHORIZATION_DETAILS', message);
}
