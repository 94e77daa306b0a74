import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { AuthFailure } from '../errors.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import type { McpGrant } from './session.ts';

/** Lets secret scanners find a token that leaked. */
const PREFIX = 'vkm_';
const PURPOSE = 'MCP session';

/** The encrypted content of a token: the client must not learn the user's identifiers. */
interface Carried extends McpGrant {
  /** The API client's, when it asked: a token of an older one is dead. */
  generation: number;
}

/**
 * Makes a session token: sealed, dated, and bound to one MCP server of one environment, which is its audience (RFC 8707). For any
 * other server it does not even open.
 *
 * @param serverId the id of a connection or of an MCP config
 */
export function mintSessionToken(
  sealed: SealedTokens,
  environmentId: EnvironmentId,
  serverId: string,
  grant: McpGrant,
  generation: number,
): string {
  const carried: Carried = { ...grant, generation };
  return PREFIX + sealed.seal(PURPOSE, [environmentId, serverId], JSON.stringify(carried), grant.expiresAt);
}

export type OpenedSession = { ok: true; grant: McpGrant } | { ok: false; authFailure: AuthFailure };

/**
 * Opens a token that a client of an MCP server presents, and asks whether the API client that it came from still is what it was.
 *
 * @returns why it is refused, for the log: it is altered, expired, of another server or environment, or of another kind (`token`), or
 *   its API client is not what it was
 */
export async function openSessionToken(
  sealed: SealedTokens,
  read: Pick<ReadRepositories, 'apiClients'>,
  environmentId: EnvironmentId,
  serverId: string,
  token: string,
): Promise<OpenedSession> {
  if (!token.startsWith(PREFIX)) return { ok: false, authFailure: { reason: 'malformed' } };
  const text = sealed.open(PURPOSE, [environmentId, serverId], token.slice(PREFIX.length));
  if (text === null) return { ok: false, authFailure: { reason: 'token' } };
  const { generation, ...grant } = JSON.parse(text) as Carried;
  const client = await read.apiClients.state(environmentId, grant.clientId);
  if (client?.enabled && client.generation === generation) return { ok: true, grant };
  const reason = client?.enabled === false ? 'client_disabled' : 'revoked';
  return { ok: false, authFailure: { reason, clientId: grant.clientId } };
}
