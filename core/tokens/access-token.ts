import jwt from 'jsonwebtoken';
import type { Scope } from './scopes.ts';
import { listKeys, type SigningKey, type SigningKeys } from './signing-key.ts';
import {
  type AccessToken,
  type ClaimsFault,
  checkClaims,
  MAX_LIFETIME_SECONDS,
  readClaims,
  type TokenAudience,
  type TokenClaims,
} from './token-claims.ts';

/** Longer texts are rejected without parsing. */
const MAX_TOKEN_CHARS = 4096;

/**
 * Three parts in canonical base64url: no padding, no white space, no unused bits in the last character. Otherwise a
 * token could be written in several ways, because decoders are lenient. An ES256 signature has 64 bytes.
 */
const FORM =
  /^(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?\.(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?\.[\w-]{85}[AQgw]$/;

export interface TokenFacts extends TokenAudience {
  clientId: string;
  environmentId: string;
  /** The client's current generation, a number that is increased to invalidate all its earlier tokens. */
  generation: number;
  scopes: readonly Scope[];
}

/** Why a token is rejected. This is only logged; callers receive `invalid_token`. */
export type TokenFault = 'malformed' | 'header' | 'signature' | ClaimsFault;

/** `clientId` is known for a rejected token only if its signature is valid. */
export type Verification = { ok: true; token: AccessToken } | { ok: false; reason: TokenFault; clientId?: string };

/**
 * The keys that verify tokens, by the encoded header of the tokens that each of them signs. The header of a token must
 * be equal to one of these.
 */
export type VerificationKeys = ReadonlyMap<string, SigningKey>;

export function verificationKeys(keys: SigningKeys): VerificationKeys {
  return new Map(listKeys(keys).map((key) => [encodedHeader(key), key]));
}

/**
 * Issues an access token (RFC 9068): a JWT signed with ES256.
 *
 * @param now milliseconds UTC
 * @param random for the token's id
 * @param lifetimeSeconds 1 to 3600
 * @throws RangeError for another lifetime
 */
export function issueAccessToken(
  key: SigningKey,
  facts: TokenFacts,
  now: number,
  random: (size: number) => Buffer,
  lifetimeSeconds = MAX_LIFETIME_SECONDS,
): string {
  if (!(lifetimeSeconds >= 1 && lifetimeSeconds <= MAX_LIFETIME_SECONDS))
    throw new RangeError('The lifetime is out of range');
  const iat = Math.floor(now / 1000);
  const claims: TokenClaims = {
    iss: facts.issuer,
    aud: facts.audience,
    sub: facts.clientId,
    client_id: facts.clientId,
    scope: facts.scopes.join(' '),
    iat,
    exp: iat + lifetimeSeconds,
    jti: random(16).toString('base64url'),
    env: facts.environmentId,
    gen: facts.generation,
  };
  return jwt.sign(claims, key.privateKey, { algorithm: 'ES256', header: header(key) });
}

/**
 * Verifies an access token (RFC 9068 §4, RFC 8725). Its header is not parsed, but compared with the headers that
 * Valetkey issues, so that an attacker cannot choose an algorithm, type, key address or extension.
 *
 * @param expected issuer and audience, compared exactly
 * @param now milliseconds UTC
 * @returns the content of the token, or why it is rejected; never throws
 */
export function verifyAccessToken(
  text: string,
  keys: VerificationKeys,
  expected: TokenAudience,
  now: number,
): Verification {
  if (text.length > MAX_TOKEN_CHARS || !FORM.test(text)) return refuse('malformed');
  const key = keys.get(text.slice(0, text.indexOf('.')));
  if (key === undefined) return refuse('header');
  const payload = verifySignature(text, key);
  if (payload === undefined) return refuse('signature');
  const token = readClaims(payload);
  if (token === null) return refuse('claims');
  const fault = checkClaims(token, expected, now);
  return fault === null ? { ok: true, token } : refuse(fault, token.clientId);
}

export function refuse(reason: TokenFault, clientId?: string): Verification {
  return { ok: false, reason, ...(clientId !== undefined && { clientId }) };
}

function verifySignature(text: string, key: SigningKey): unknown {
  try {
    // The library does not check times: `checkClaims` does so with the injected clock, here and at every later use of
    // the token.
    return jwt.verify(text, key.publicKey, { algorithms: ['ES256'], ignoreExpiration: true, ignoreNotBefore: true });
  } catch {
    return undefined;
  }
}

function header(key: SigningKey): jwt.JwtHeader {
  return { alg: 'ES256', typ: 'at+jwt', kid: key.kid };
}

function encodedHeader(key: SigningKey): string {
  return Buffer.from(JSON.stringify(header(key))).toString('base64url');
}
