import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { MCP_SCOPES } from '../mcp-login/scopes.ts';
import { principalState } from '../operators/principal.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import type { McpGrant, OpenedSession } from './session.ts';

/** A fixed prefix lets secret scanners find leaked tokens. */
const PREFIX = 'vkm_';
const PURPOSE = 'MCP session';

/** The content of a session token. It has no scopes, because a session token allows every method of the protocol. */
export type SessionGrant = Omit<McpGrant, 'scopes' | 'sessionClient'>;

/** The encrypted content of a token. It is encrypted because the client must not learn the user's identifiers. */
interface Carried extends SessionGrant {
  /**
   * The generation of the API client or operator session that requested the token, at that time. Disabling an API
   * client increases its generation, and tokens of another generation are invalid.
   */
  generation: number;
}

/**
 * Creates a session token: encrypted, with an expiry, and bound to one MCP server of one environment, which is its
 * audience (RFC 8707). It cannot be decrypted for another server.
 *
 * @param serverId the id of a connection or of an MCP config
 */
export function mintSessionToken(
  sealed: SealedTokens,
  environmentId: EnvironmentId,
  serverId: string,
  grant: SessionGrant,
  generation: number,
): string {
  const carried: Carried = { ...grant, generation };
  return PREFIX + sealed.seal(PURPOSE, [environmentId, serverId], JSON.stringify(carried), grant.expiresAt);
}

/**
 * Decrypts the token of an MCP client, and checks that the API client or operator session which requested it is still
 * enabled and has the same generation.
 *
 * @param now milliseconds UTC
 * @returns the grant, or the reason for the rejection, for the log: `malformed`; `token` if it was altered, has
 * expired, or belongs to another server or environment; `client_disabled`, also for an expired operator session;
 * `revoked` if the generation differs, or the API client or operator session no longer exists
 */
export async function openSessionToken(
  sealed: Pick<SealedTokens, 'open'>,
  read: Pick<ReadRepositories, 'apiClients' | 'operatorSessions'>,
  environmentId: EnvironmentId,
  serverId: string,
  token: string,
  now: number,
): Promise<OpenedSession> {
  if (!token.startsWith(PREFIX)) return { ok: false, authFailure: { reason: 'malformed' } };
  const text = sealed.open(PURPOSE, [environmentId, serverId], token.slice(PREFIX.length));
  if (text === null) return { ok: false, authFailure: { reason: 'token' } };
  const { generation, ...grant } = JSON.parse(text) as Carried;
  const client = await principalState(read, environmentId, grant.clientId, now);
  if (client?.enabled && client.generation === generation)
    return { ok: true, grant: { ...grant, clientId: client.actor, sessionClient: grant.clientId, scopes: MCP_SCOPES } };
  const reason = client?.enabled === false ? 'client_disabled' : 'revoked';
  return { ok: false, authFailure: { reason, clientId: grant.clientId } };
}
