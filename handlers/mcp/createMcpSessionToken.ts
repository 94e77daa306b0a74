import { requireListed } from '../../core/accounts/links/verify-url.ts';
import { LIFETIME } from '../../core/budgets.ts';
import type { McpConfigs } from '../../core/capabilities/mcp.ts';
import { ApiError } from '../../core/errors.ts';
import { findServer, mcpServerUrl } from '../../core/mcp/server-definition.ts';
import { mintSessionToken, openSessionToken, type SessionGrant } from '../../core/mcp/session-token.ts';
import { principalState } from '../../core/operators/principal.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Transaction } from '../../db/store.ts';
import type { Handler, Schemas } from '../../http/contract.ts';
import { currentEnvironment } from '../current-environment.ts';

/** The scope that allows a session to create links. */
const CONNECTS = 'accounts:write';

export const createMcpSessionToken: Handler<'createMcpSessionToken', McpConfigs> = (call, reply, mcp) => {
  const { server_id: serverId, identifier, lifetime_seconds: seconds } = call.body;
  const { organization_id: organizationId, user_id: userId, user_verify_url: userVerifyUrl } = call.body;
  if (organizationId === undefined && userId === undefined) {
    throw new ApiError('VALIDATION_FAILED', 'The user is not fully identified.', {
      errors: [{ field: 'organization_id', message: 'is required, or user_id' }],
    });
  }
  const create = async (tx: Transaction) => {
    const environment = await currentEnvironment(tx, call.environment.id);
    if (!(await findServer(tx, environment.id, serverId))) {
      const detail = `The server_id ${serverId} is neither the id of a connection nor that of an MCP config.`;
      throw new ApiError('NOT_FOUND', detail);
    }
    const { clientId, scopes } = call.client;
    const expiresAt = mcp.now() + (seconds === undefined ? LIFETIME.mcpSessionMs : seconds * 1000);
    const grant: SessionGrant = {
      clientId,
      user: { organizationId, userId, identifier },
      userVerifyUrl: userVerifyUrl === undefined ? null : requireListed(environment, userVerifyUrl),
      // A client without the scope to create links must not get a session that can.
      mayConnect: scopes.includes(CONNECTS),
      expiresAt,
    };
    const client = await principalState(tx, environment.id, clientId, mcp.now());
    const token = mintSessionToken(mcp.sealedData, environment.id, serverId, grant, client?.generation ?? 0);
    await mcp.events.emit(tx, call.cause, {
      type: 'mcp_session.created',
      subject: serverId,
      details: { user: { organization_id: organizationId ?? null, user_id: userId ?? null, identifier } },
      data: () => ({ server_id: serverId, expires_at: rfc3339(expiresAt) }),
    });
    return reply(201, {
      token,
      expires_at: rfc3339(expiresAt),
      mcp_server_url: mcpServerUrl(environment, serverId),
    });
  };
  return call.commit(create, {
    async replay(tx, kept) {
      const { token } = kept.body as Schemas['McpSessionToken'];
      const opened = await openSessionToken(mcp.sealedData, tx, call.environment.id, serverId, token, mcp.now());
      if (opened.ok && opened.grant.mayConnect && !call.client.scopes.includes(CONNECTS)) {
        const detail = `The token that the first request with this idempotency key returned needs the scope ${CONNECTS}.`;
        throw new ApiError('INSUFFICIENT_SCOPE', detail, { scope: CONNECTS });
      }
      return kept;
    },
  });
};
