import type {
  CallToolResult,
  InputRequiredResult,
  ListToolsResult,
  McpRequestContext,
  Server,
} from '@modelcontextprotocol/server';
import { MCP_SERVER } from '../budgets.ts';
import { programVersion } from '../program-version.ts';
import { displayName } from './ask-to-connect.ts';
import { type AskedClient, askToOpenLink, declined, describeLink, wasDeclined } from './ask-user.ts';
import { callTool } from './call-tool.ts';
import { sealConnectState } from './connect-state.ts';
import { contentCapabilities, serveContents } from './contents/serve-contents.ts';
import { FINDER_TOOLS } from './finder-definitions.ts';
import { meantCall } from './finder-tools.ts';
import { listedTools } from './listed-tools.ts';
import { type OfferedName, presentOffered } from './offered-tools.ts';
import { sendPlainErrors } from './plain-errors.ts';
import { presentMcpTool } from './present-tool.ts';
import { logged, readState, watchOf } from './request-context.ts';
import { failureResult } from './results.ts';
import { type McpSession, sessionOf } from './session.ts';
import type { ToolServerDeps } from './tool-server-deps.ts';

/** How the server names itself to clients. */
export const SERVER_INFO = { name: 'valetkey', title: 'Valetkey', version: programVersion() };

const PRIVATE = { ttlMs: MCP_SERVER.listMs, cacheScope: 'private' } as const;

type Sdk = typeof import('@modelcontextprotocol/server');

/** Creates the MCP server for one request, or for one session of the revision 2025-11-25. */
export async function createToolServer(deps: ToolServerDeps, { era, authInfo }: McpRequestContext): Promise<Server> {
  const sdk = await import('@modelcontextprotocol/server');
  const contents = contentCapabilities(sessionOf(authInfo));
  const server = new sdk.Server(SERVER_INFO, {
    capabilities: { tools: { listChanged: true }, ...contents },
    // Lists are private, so intermediate caches must not share them (threat M5).
    cacheHints: {
      'tools/list': PRIVATE,
      'resources/list': PRIVATE,
      'resources/templates/list': PRIVATE,
      'resources/read': { ttlMs: 0, cacheScope: 'private' },
      'prompts/list': PRIVATE,
      'server/discover': PRIVATE,
    },
  });
  sendPlainErrors(server);
  serveContents(sdk, deps, { era, server }, contents);
  server.setRequestHandler('tools/list', ({ params }, ctx) =>
    logged(sdk, deps, () => listTools(sdk, deps, sessionOf(ctx.http?.authInfo), params?.cursor)),
  );
  server.setRequestHandler('tools/call', ({ params: { name, arguments: input = {} } }, ctx) =>
    logged(sdk, deps, () => call(sdk, deps, { era, server, ctx }, name, input)),
  );
  return server;
}

async function listTools(
  sdk: Sdk,
  deps: ToolServerDeps,
  session: McpSession,
  cursor: string | undefined,
): Promise<ListToolsResult> {
  const { read } = deps.store;
  const { listed: all, offersMore } = await listedTools(read, deps, session.server);
  const start = startOf(sdk, all, cursor);
  const page = all.slice(start, start + MCP_SERVER.toolsPerPage);
  const { items, taken } = await presentOffered(read, deps, page, presentMcpTool);
  const last = page[taken - 1];
  return {
    tools: offersMore && cursor === undefined ? [...FINDER_TOOLS, ...items] : items,
    ...(last && start + taken < all.length && { nextCursor: encode(last.name) }),
  };
}

async function call(
  sdk: Sdk,
  deps: ToolServerDeps,
  client: AskedClient,
  name: string,
  input: Record<string, unknown>,
): Promise<CallToolResult | InputRequiredResult> {
  const { ctx } = client;
  const session = sessionOf(ctx.http?.authInfo);
  const meant = await meantCall(deps, session, name, input);
  if (!meant) {
    const message = `Unknown tool ${name}. tools/list returns the names.`;
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message);
  }
  if (meant.kind === 'result') return meant.result;
  const { offered, input: toolInput } = meant;
  const bound = { session, method: 'tools/call' as const, name, input };
  const earlierLink = readState(sdk, deps.sealedStates, bound, ctx);
  if (earlierLink && wasDeclined(ctx)) {
    return failureResult(declined(await displayName(deps, offered.connection)));
  }
  const response = await callTool(deps, session, { offered, toolInput, earlierLink, watch: watchOf(ctx) });
  if (response.kind === 'result') return response.result;
  if (response.kind === 'left') throw new Error('a call needs a link although leavesLinks is not set');
  const { link, message, waited, failure } = response;
  // Some clients repeat a call immediately after being asked to open a link. Asking them again would never end.
  if (waited) return failureResult(describeLink(link, message));
  const seal = () => sealConnectState(deps.sealedStates, bound, link);
  const linkRequest = { link, message, requestId: session.requestId, seal };
  return askToOpenLink(sdk, client, linkRequest) ?? failureResult(describeLink(link, message, failure));
}

/**
 * Returns the index of the first tool of a page. A cursor contains the name of the last tool of the previous page, so
 * it stays valid when tools are added or removed.
 */
function startOf(sdk: Sdk, all: readonly OfferedName[], cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const last = Buffer.from(cursor, 'base64url').toString();
  if (!/^[a-z0-9_]{1,64}$/.test(last)) {
    throw new sdk.ProtocolError(
      sdk.ProtocolErrorCode.InvalidParams,
      'The cursor does not belong to this list. Begin without a cursor.',
    );
  }
  const start = all.findIndex(({ name }) => name > last);
  return start < 0 ? all.length : start;
}

function encode(name: string): string {
  return Buffer.from(name).toString('base64url');
}
