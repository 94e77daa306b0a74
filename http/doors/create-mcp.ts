import { ApiError } from '../../core/errors.ts';
import { createOutputChecker } from '../../core/mcp/output-checker.ts';
import { findServer } from '../../core/mcp/server-definition.ts';
import { openSessionToken } from '../../core/mcp/session-token.ts';
import { createToolServer } from '../../core/mcp/tool-server.ts';
import type { Deps } from '../deps.ts';
import type { McpServing } from './mcp.ts';

/** Wires the MCP servers of connections and configs. */
export function createMcpServing(deps: Deps): McpServing {
  const tools = { ...deps, outputs: createOutputChecker(deps.threads.short), sealedStates: deps.sealedReplies };
  return {
    factory: (context) => createToolServer(tools, context),
    async authenticate(environment, serverId, token, requestId) {
      if (token === '')
        throw new ApiError('UNAUTHENTICATED', 'A session token is required in the Authorization header.');
      const { read } = deps.store;
      const grant = await openSessionToken(deps.sealedReplies, read, environment.id, serverId, token);
      // A server that is gone is like a token that is wrong: who has no token learns of no server.
      const server = grant && (await findServer(read, environment.id, serverId));
      if (!grant || !server) throw new ApiError('UNAUTHENTICATED', 'The session token is not valid here.');
      return { environment, server, grant, requestId };
    },
  };
}
