import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { McpGrant, OpenedSession } from '../mcp/session.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import { openAccessToken } from './grant-tokens.ts';
import { mayIdentifyUsers } from './login-provider.ts';

/**
 * Decrypts the access token of an MCP client and reads its grant, so that a revocation takes effect immediately. A
 * grant is also rejected after the API client that identified the user was disabled, the operator session that
 * identified the user has ended, or the login provider that did was replaced.
 *
 * @param now milliseconds UTC
 */
export async function verifyAccessToken(
  sealed: Pick<SealedTokens, 'open'>,
  read: Pick<ReadRepositories, 'apiClients' | 'loginProviders' | 'oauthGrants' | 'operatorSessions'>,
  environmentId: EnvironmentId,
  serverId: string,
  token: string,
  now: number,
): Promise<OpenedSession> {
  const payload = openAccessToken(sealed, environmentId, token);
  if (!payload || payload.serverId !== serverId) return { ok: false, authFailure: { reason: 'token' } };
  const { grantId, scopes } = payload;
  const row = await read.oauthGrants.get(environmentId, grantId);
  if (!row || row.expiresAt <= now) return { ok: false, authFailure: { reason: 'revoked', clientId: grantId } };
  if (!(await mayIdentifyUsers(read, environmentId, row.identifiedBy, now)))
    return { ok: false, authFailure: { reason: 'identity_revoked', clientId: grantId } };
  const granted = scopes.filter((scope) => row.scopes.includes(scope));
  const grant: McpGrant = {
    clientId: grantId,
    sessionClient: row.clientId,
    user: {
      organizationId: row.organizationId || undefined,
      userId: row.userId || undefined,
      identifier: row.identifier,
    },
    userVerifyUrl: row.userVerifyUrl,
    mayConnect: granted.includes('tools:call'),
    scopes: granted,
    expiresAt: row.expiresAt,
  };
  return { ok: true, grant };
}
