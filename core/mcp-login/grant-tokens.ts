import type { EnvironmentId, OAuthGrantRow } from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';

/** Fixed prefixes let secret scanners find leaked tokens. */
const ACCESS_PREFIX = 'vka_';
const REFRESH_PREFIX = 'vkr_';
const ACCESS = 'MCP access';
const REFRESH = 'MCP refresh';

/** The content of an access token. */
export interface AccessTokenPayload {
  grantId: string;
  serverId: string;
  scopes: string[];
}

export function isAccessToken(token: string): boolean {
  return token.startsWith(ACCESS_PREFIX);
}

/**
 * Creates an access token: encrypted, with an expiry, and valid only at the MCP server of its grant, which is its
 * audience (RFC 8707). It contains the ID of the grant. Every request reads the grant, so the token is rejected as soon
 * as the grant ends.
 */
export function mintAccessToken(
  sealed: SealedTokens,
  { environmentId, serverId, id: grantId }: OAuthGrantRow,
  scopes: readonly string[],
  now: number,
): string {
  const payload: AccessTokenPayload = { grantId, serverId, scopes: [...scopes] };
  return ACCESS_PREFIX + sealed.seal(ACCESS, [environmentId], JSON.stringify(payload), now + MCP_LOGIN.accessTokenMs);
}

/**
 * @returns null if the token is altered or expired, or is of another kind or environment. The caller must check that
 * `serverId` is the called server.
 */
export function openAccessToken(
  sealed: Pick<SealedTokens, 'open'>,
  environmentId: EnvironmentId,
  token: string,
): AccessTokenPayload | null {
  if (!isAccessToken(token)) return null;
  const text = sealed.open(ACCESS, [environmentId], token.slice(ACCESS_PREFIX.length));
  return text === null ? null : (JSON.parse(text) as AccessTokenPayload);
}

/** The content of a refresh token. */
export interface RefreshTokenPayload {
  grantId: string;
  generation: number;
}

/**
 * Creates the current refresh token of a grant. The token contains the grant's generation, which each replacement of
 * the refresh token increases by one. The token is not stored: it is created again if a client repeats its request.
 */
export function mintRefreshToken(
  sealed: SealedTokens,
  { environmentId, id, generation, createdAt }: OAuthGrantRow,
): string {
  const payload: RefreshTokenPayload = { grantId: id, generation };
  return REFRESH_PREFIX + sealed.seal(REFRESH, [environmentId], JSON.stringify(payload), createdAt + MCP_LOGIN.grantMs);
}

/** @returns null if the token is altered or expired, or is of another kind or environment */
export function openRefreshToken(
  sealed: SealedTokens,
  environmentId: EnvironmentId,
  token: string,
): RefreshTokenPayload | null {
  if (!token.startsWith(REFRESH_PREFIX)) return null;
  const text = sealed.open(REFRESH, [environmentId], token.slice(REFRESH_PREFIX.length));
  return text === null ? null : (JSON.parse(text) as RefreshTokenPayload);
}
