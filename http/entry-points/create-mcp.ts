import { ApiError, type AuthFailure } from '../../core/errors.ts';
import type { ListChanges } from '../../core/mcp/list-changes.ts';
import { createOutputChecker } from '../../core/mcp/output-checker.ts';
import { serveDirectCall } from '../../core/mcp/serve-direct-call.ts';
import { findServer } from '../../core/mcp/server-definition.ts';
import type { OpenedSession } from '../../core/mcp/session.ts';
import { openSessionToken } from '../../core/mcp/session-token.ts';
import { createToolServer } from '../../core/mcp/tool-server.ts';
import type { ToolServerDeps } from '../../core/mcp/tool-server-deps.ts';
import { isAccessToken } from '../../core/mcp-login/grant-tokens.ts';
import { verifyAccessToken } from '../../core/mcp-login/verify-access-token.ts';
import { createJwtVerifier, isJwt, type JwtDeps } from '../../core/mcp-login/verify-jwt.ts';
import type { ThreadPool } from '../../core/threads/pool.ts';
import { createOpenedTokens } from '../../core/vault/opened-tokens.ts';
import type { SealedTokens } from '../../core/vault/sealed-token.ts';
import type { EnvironmentRow } from '../../db/store.ts';
import type { McpServing } from './mcp.ts';

export type McpServingDeps = Omit<ToolServerDeps, 'outputs' | 'sealedStates'> &
  JwtDeps & {
    /** Checks results against the schemas of tools. */
    threads: { readonly short: ThreadPool };
    /** Encrypts tokens, and the state of calls that are repeated after their user has opened a link. */
    sealedData: SealedTokens;
    listChanges: ListChanges;
  };

const INVALID = 'The token is invalid, expired or revoked, or belongs to another MCP server.';

/** Creates the functions with which the entry point serves the MCP servers of connections and of MCP configs. */
export function createMcpServing(deps: McpServingDeps): McpServing {
  const tools = { ...deps, outputs: createOutputChecker(deps.threads.short), sealedStates: deps.sealedData };
  const { store, now } = deps;
  const sealed = createOpenedTokens(deps.sealedData, now);
  const jwts = createJwtVerifier(deps);

  async function open(environment: EnvironmentRow, serverId: string, token: string): Promise<OpenedSession> {
    const { id } = environment;
    if (isAccessToken(token)) return verifyAccessToken(sealed, store.read, id, serverId, token, now());
    const provider = isJwt(token) ? await store.read.loginProviders.get(id) : undefined;
    if (provider?.type === 'JWT') return jwts.verify(provider, environment, serverId, token);
    return openSessionToken(sealed, store.read, id, serverId, token, now());
  }

  return {
    changes: deps.listChanges,
    factory: (context) => createToolServer(tools, context),
    call: (session, call, signal) => serveDirectCall(tools, session, call, signal),
    async authenticate(environment, serverId, token, requestId) {
      const refused = (detail: string, authFailure: AuthFailure) =>
        new ApiError('UNAUTHENTICATED', detail, { authFailure });
      if (token === '')
        throw refused('A token is required: send the header Authorization: Bearer <token>.', { reason: 'no_token' });
      const { read } = deps.store;
      const opened = await open(environment, serverId, token);
      if (!opened.ok) throw refused(INVALID, opened.authFailure);
      const { grant } = opened;
      // A missing server is reported like an invalid token, so that a client without a token cannot find out which
      // servers exist.
      const server = await findServer(read, environment.id, serverId);
      if (!server) throw refused(INVALID, { reason: 'server_unknown', clientId: grant.clientId });
      return { environment, server, grant, requestId };
    },
  };
}
