import type {
  EnvironmentId,
  GrantFilters,
  GrantUser,
  LoginSubject,
  NewOAuthGrant,
  OAuthGrantRow,
  OAuthLoginRow,
  Transaction,
} from '../../db/store.ts';
import { accountsOfUser } from '../accounts/of-user.ts';
import { MCP_LOGIN } from '../budgets.ts';
import type { Cause, Events } from '../events/events.ts';
import type { EventData } from '../events/types.ts';
import { redirectHost } from './redirect-uri.ts';

export interface GrantDeps {
  events: Events;
  now(): number;
  newId(prefix: 'grt'): string;
}

/** Why a grant ended. */
export type GrantEnd = EventData<'mcp_grant.revoked'>['reason'];

/**
 * Creates the grant of a login. If the user already has the maximum number of grants for the server, the least recently
 * used one ends.
 */
export async function createGrant(
  tx: Transaction,
  deps: GrantDeps,
  { environmentId, request }: OAuthLoginRow,
  subject: LoginSubject,
  cause: Cause,
): Promise<OAuthGrantRow> {
  const at = deps.now();
  const { clientId, clientName, clientKind, serverId, scopes, redirectUri, refreshes } = request;
  const grant: NewOAuthGrant = {
    ...subject,
    id: deps.newId('grt'),
    clientId,
    clientName,
    clientKind,
    redirectHost: redirectHost(redirectUri),
    serverId,
    scopes,
    generation: 1,
    retiredAt: [],
    createdAt: at,
    usedAt: at,
    // Without a refresh token, the grant ends with its access token.
    expiresAt: at + (refreshes ? MCP_LOGIN.grantIdleMs : MCP_LOGIN.accessTokenMs),
  };
  const others = await tx.oauthGrants.ofUser(environmentId, subject, serverId);
  const surplus = others.sort((a, b) => b.usedAt - a.usedAt).slice(MCP_LOGIN.grantsOfUser - 1);
  for (const old of surplus) await endGrant(tx, deps, old, 'REPLACED', cause);
  await tx.oauthGrants.insert(environmentId, grant);
  const row = { ...grant, environmentId };
  await deps.events.emit(tx, cause, {
    type: 'mcp_grant.created',
    subject: row.id,
    auditOnly: { client_id: clientId, server_id: serverId },
    data: (show) => ({ grant: show.mcpGrant(row) }),
  });
  return row;
}

/** Ends a grant. Its tokens are rejected from the next request on. */
export async function endGrant(
  tx: Transaction,
  { events }: Pick<GrantDeps, 'events'>,
  grant: OAuthGrantRow,
  reason: GrantEnd,
  cause: Cause,
): Promise<void> {
  if (!(await tx.oauthGrants.delete(grant.environmentId, grant.id))) return;
  await events.emit(tx, cause, {
    type: 'mcp_grant.revoked',
    subject: grant.id,
    details: { reason },
    data: (show) => ({ grant: show.mcpGrant(grant) }),
  });
}

const PAGE = 100;

/** Ends all grants that match the filters. @returns how many grants were ended */
export async function endGrants(
  tx: Transaction,
  deps: Pick<GrantDeps, 'events'>,
  environmentId: EnvironmentId,
  filters: GrantFilters,
  reason: GrantEnd,
  cause: Cause,
): Promise<number> {
  for (let ended = 0; ; ) {
    const rows = await tx.oauthGrants.some(environmentId, filters, PAGE);
    if (rows.length === 0) return ended;
    for (const grant of rows) await endGrant(tx, deps, grant, reason, cause);
    ended += rows.length;
    await tx.yieldToEventLoop();
  }
}

/** Ends the grants of a user who has no connected account left. If the user still has one, nothing is changed. */
export async function endGrantsWithoutAccount(
  tx: Transaction,
  deps: Pick<GrantDeps, 'events'>,
  environmentId: EnvironmentId,
  { organizationId, userId, identifier }: GrantUser,
  cause: Cause,
): Promise<void> {
  const user = { organizationId, userId, identifier };
  // A filter cannot select accounts without an organization or a user, so the loop compares both again.
  const filters = { identifier, organizationId: organizationId || undefined, userId: userId || undefined };
  for await (const rows of accountsOfUser(tx, environmentId, filters)) {
    if (rows.some((row) => row.organizationId === organizationId && row.userId === userId)) return;
  }
  await endGrants(tx, deps, environmentId, user, 'USER_DELETED', cause);
}
