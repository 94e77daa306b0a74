import type { EnvironmentRow, OAuthGrantRow, Transaction } from '../../db/store.ts';
import type { Cause } from '../events/events.ts';
import { findServer } from '../mcp/server-definition.ts';
import { type TokenError, tokenError } from '../tokens/token-error.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import { openRefreshToken } from './grant-tokens.ts';
import { endGrant, type GrantDeps } from './grants.ts';
import { mayIdentifyUsers } from './login-provider.ts';
import { serverOfResource } from './resource.ts';
import { classifyRefreshToken, rotateGrant } from './rotation.ts';
import type { Form } from './token-parameters.ts';

export interface RefreshDeps extends Pick<GrantDeps, 'events' | 'now'> {
  /** Encrypts and decrypts access tokens and refresh tokens. */
  sealedData: SealedTokens;
}

export type Refreshed = { ok: true; grant: OAuthGrantRow; scopes: string[] } | { ok: false; error: TokenError };

const INVALID = tokenError(
  'invalid_grant',
  'The refresh token is invalid, expired or already used, or belongs to another client',
);
/** The maximum number of attempts. An attempt fails if another process replaces the token between read and write. */
const ATTEMPTS = 3;

/**
 * Uses a refresh token (OAuth 2.1 §4.3) and replaces it. If a token is used again soon after it was replaced, the
 * client receives the current token. If it is used again later, the grant ends.
 *
 * The caller must commit the transaction even if the result is an error, because the grant may have ended.
 *
 * @param clientId the id of the authenticated client
 */
export async function refreshGrant(
  tx: Transaction,
  deps: RefreshDeps,
  environment: EnvironmentRow,
  clientId: string,
  { refresh_token: token, scope, resource }: Form,
  cause: Cause,
): Promise<Refreshed> {
  if (token === undefined) return refused(tokenError('invalid_request', 'The parameter refresh_token is missing'));
  const { id: environmentId } = environment;
  const payload = openRefreshToken(deps.sealedData, environmentId, token);
  if (!payload) return refused(INVALID);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const at = deps.now();
    const grant = await tx.oauthGrants.get(environmentId, payload.grantId);
    if (!grant || grant.expiresAt <= at || grant.clientId !== clientId) return refused(INVALID);
    const use = classifyRefreshToken(grant, payload.generation, at);
    if (use === 'reused') {
      await endGrant(tx, deps, grant, 'REFRESH_TOKEN_REUSED', cause);
      return refused(INVALID);
    }
    const error = await problemOf(tx, environment, grant, resource, at);
    if (error) return refused(error);
    const scopes = narrowed(grant, scope);
    if (!scopes) return refused(tokenError('invalid_scope', 'The grant does not have the scope tools:call'));
    if (use === 'repeated') return { ok: true, grant, scopes };
    const next = rotateGrant(grant, at);
    if (await tx.oauthGrants.rotate(environmentId, grant.id, grant.generation, next))
      return { ok: true, grant: next, scopes };
  }
  throw new Error('the grant was changed concurrently in every attempt');
}

async function problemOf(
  tx: Transaction,
  environment: EnvironmentRow,
  { serverId, identifiedBy }: OAuthGrantRow,
  resource: string | undefined,
  at: number,
): Promise<TokenError | undefined> {
  const isTrusted = await mayIdentifyUsers(tx, environment.id, identifiedBy, at);
  if (!isTrusted || !(await findServer(tx, environment.id, serverId))) return INVALID;
  if (resource === undefined || (await serverOfResource(tx, environment, resource))?.id === serverId) return undefined;
  return tokenError('invalid_target', 'The resource differs from the one that the refresh token was issued for');
}

/**
 * Returns the requested subset of a grant's scopes (RFC 6749 §6). Unknown scopes are ignored. A request without a known
 * scope gets all scopes of the grant.
 *
 * @returns undefined if the grant lacks a requested scope
 */
function narrowed({ scopes }: OAuthGrantRow, scope: string | undefined): string[] | undefined {
  if (scope === undefined) return scopes;
  const asked = scope.split(' ');
  const beyond = asked.includes('tools:call') && !scopes.includes('tools:call');
  if (beyond) return undefined;
  return asked.includes('tools:read') && !asked.includes('tools:call') ? ['tools:read'] : scopes;
}

function refused(error: TokenError): Refreshed {
  return { ok: false, error };
}
