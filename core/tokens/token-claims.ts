import { LIFETIME } from '../budgets.ts';
import { isScope, type Scope } from './scopes.ts';

/** The claims of an access token (RFC 9068 §2.2). Times are whole seconds since 1970, UTC. */
export interface TokenClaims {
  iss: string;
  aud: string;
  sub: string;
  client_id: string;
  scope: string;
  iat: number;
  exp: number;
  jti: string;
  /** Environment id. */
  env: string;
  /**
   * The generation of the client (a number that is increased to invalidate its earlier tokens) when the token was
   * issued.
   */
  gen: number;
}

/** The content of a verified access token. It is frozen, because every request with the token shares the object. */
export interface AccessToken {
  readonly issuer: string;
  readonly audience: string;
  readonly clientId: string;
  readonly environmentId: string;
  /** The claim `gen`; it must equal the client's current generation, and is compared on every request. */
  readonly generation: number;
  readonly scopes: readonly Scope[];
  readonly tokenId: string;
  /** This time and the next two are milliseconds UTC. */
  readonly issuedAt: number;
  readonly notBefore: number;
  readonly expiresAt: number;
}

export interface TokenAudience {
  issuer: string;
  audience: string;
}

export type ClaimsFault = 'claims' | 'issuer' | 'audience' | 'expired' | 'not_yet_valid';

export const MAX_LIFETIME_SECONDS = LIFETIME.accessTokenMs / 1000;
const SKEW_MS = 30_000;

/** Reads the claims of a token whose signature is valid; returns `null` if one is missing or invalid. */
export function readClaims(payload: unknown): AccessToken | null {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return null;
  const { iss, aud, sub, client_id, scope, iat, exp, nbf, jti, env, gen } = payload as Record<string, unknown>;
  if (!isText(iss) || !isText(aud) || !isText(client_id) || !isText(jti) || !isText(env)) return null;
  if (sub !== client_id || typeof scope !== 'string') return null;
  if (!isCount(iat) || !isCount(exp) || !isCount(nbf ?? iat) || !isCount(gen)) return null;
  if (exp <= iat || exp - iat > MAX_LIFETIME_SECONDS) return null;
  return Object.freeze({
    issuer: iss,
    audience: aud,
    clientId: client_id,
    environmentId: env,
    generation: gen,
    // Scopes that this version does not know are ignored.
    scopes: Object.freeze(scope.split(' ').filter(isScope)),
    tokenId: jti,
    issuedAt: iat * 1000,
    notBefore: Number(nbf ?? iat) * 1000,
    expiresAt: exp * 1000,
  });
}

/**
 * Checks whether the token is for this server and valid now. Called on every request, even if the signature was
 * verified before.
 *
 * @param now milliseconds UTC
 * @returns `null` if the token is valid
 */
export function checkClaims(token: AccessToken, expected: TokenAudience, now: number): ClaimsFault | null {
  if (token.issuer !== expected.issuer) return 'issuer';
  if (token.audience !== expected.audience) return 'audience';
  if (now >= token.expiresAt) return 'expired';
  if (Math.max(token.issuedAt, token.notBefore) > now + SKEW_MS) return 'not_yet_valid';
  return null;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
