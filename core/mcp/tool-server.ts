import type {
  CallToolResult,
  InputRequiredResult,
  McpRequestContext,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import { ApiError } from '../errors.ts';
import type { SealedTokens } from '../vault/sealed-token.ts';
import type { CallTools } from './call-tool.ts';
import { callTool } from './call-tool.ts';
import { type ConnectState, openConnectState, sealConnectState } from './connect-state.ts';
import { findOffered, offeredTools } from './offered-tools.ts';
import { presentMcpTool } from './present-tool.ts';
import { failureResult } from './results.ts';
import { type McpSession, sessionOf } from './session.ts';

export interface ToolServerTools extends CallTools {
  sealedStates: SealedTokens;
}

/** What one answer to tools/list holds at most. */
const PAGE_SIZE = 250;
/** How long clients may keep a list, in milliseconds. It changes with settings only, and calls are judged by what holds then. */
const LIST_TTL_MS = 60_000;
const CONNECT = 'connect_account';

type Sdk = typeof import('@modelcontextprotocol/server');

/** Makes the server that answers one request for tools, or one session of the older revision. */
export async function createToolServer(tools: ToolServerTools, { era }: McpRequestContext): Promise<Server> {
  const sdk = await import('@modelcontextprotocol/server');
  const server = new sdk.Server(
    { name: 'valetkey', title: 'Valetkey', version: '1.0.0' },
    {
      capabilities: { tools: {} },
      // Lists belong to whoever asked: no cache on the way may share them (threat M5).
      cacheHints: {
        'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
        'server/discover': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
      },
    },
  );
  server.setRequestHandler('tools/list', async ({ params }, ctx) => {
    const session = sessionOf(ctx.http?.authInfo);
    const all = (await offeredTools(tools.store.read, tools, session.server)).map(({ tool }) => presentMcpTool(tool));
    const start = startOf(sdk, all, params?.cursor);
    const page = all.slice(start, start + PAGE_SIZE);
    const last = page.at(-1);
    return { tools: page, ...(last && start + PAGE_SIZE < all.length && { nextCursor: encode(last.name) }) };
  });
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const session = sessionOf(ctx.http?.authInfo);
    const { name, arguments: input = {} } = params;
    const offered = await findOffered(tools.store.read, tools, session.server, name);
    if (!offered) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no tool ${name} here.`);
    const call = { session, name, input };
    const state = readState(sdk, tools.sealedStates, call, ctx);
    if (state && wasRefused(ctx)) return refused();
    const answer = await callTool(tools, session, offered, input, state);
    if (answer.kind === 'result') return answer.result;
    const { link, why } = answer;
    const message = `${why} Open the link to connect the account, then the call goes on.`;
    return ask(sdk, {
      era,
      server,
      ctx,
      link,
      message,
      requestId: session.requestId,
      seal: () => sealConnectState(tools.sealedStates, call, link),
    });
  });
  return server;
}

interface Asking {
  era: McpRequestContext['era'];
  server: Server;
  ctx: ServerContext;
  requestId: string;
  link: ConnectState;
  message: string;
  seal(): string;
}

/** Sends the user to a link, in whichever way the client can (elicitation in URL mode), or by words. */
function ask(
  sdk: Sdk,
  { era, server, ctx, requestId, link, message, seal }: Asking,
): CallToolResult | InputRequiredResult {
  const { url } = link;
  if (era === 'modern') {
    const envelope = ctx.mcpReq.envelope as Record<string, Capabilities> | undefined;
    if (!canOpenUrls(envelope?.[sdk.CLIENT_CAPABILITIES_META_KEY])) return linkInWords(link, message);
    const { inputRequired } = sdk;
    return inputRequired({
      inputRequests: { [CONNECT]: inputRequired.elicitUrl({ message, url }) },
      requestState: seal(),
    });
  }
  if (!canOpenUrls(server.getClientCapabilities())) return linkInWords(link, message);
  throw new sdk.UrlElicitationRequiredError([{ mode: 'url', message, url, elicitationId: requestId }]);
}

type Capabilities = { elicitation?: { url?: object } } | undefined;

function canOpenUrls(capabilities: Capabilities): boolean {
  return capabilities?.elicitation?.url !== undefined;
}

function linkInWords({ url, expiresAt }: ConnectState, message: string): CallToolResult {
  const next_action = {
    type: 'authorize',
    url,
    expires_at: new Date(expiresAt).toISOString(),
    message: `${message} ${url}`,
  };
  return failureResult(new ApiError('ACCOUNT_NOT_ACTIVE', message, { extra: { next_action } }));
}

function refused(): CallToolResult {
  const message = 'The user does not want to connect the account now.';
  const next_action = { type: 'authorize', message: 'Ask the user before you try again.' };
  return failureResult(new ApiError('ACCOUNT_NOT_ACTIVE', message, { extra: { next_action } }));
}

function wasRefused({ mcpReq }: ServerContext): boolean {
  const answer = mcpReq.inputResponses?.[CONNECT] as { action?: unknown } | undefined;
  return answer?.action === 'decline' || answer?.action === 'cancel';
}

function readState(
  sdk: Sdk,
  sealed: SealedTokens,
  call: { session: McpSession; name: string; input: unknown },
  { mcpReq }: ServerContext,
): ConnectState | null {
  const text = mcpReq.requestState<string>();
  if (text === undefined) return null;
  const state = openConnectState(sealed, call, text);
  if (state) return state;
  const reason = { reason: 'invalid_request_state' };
  throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', reason);
}

/** A cursor is the name of the last tool of the page before: it stays right when tools come and go. */
function startOf(sdk: Sdk, all: readonly { name: string }[], cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const last = Buffer.from(cursor, 'base64url').toString();
  if (!/^[a-z0-9_]{1,64}$/.test(last)) {
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, 'The cursor is not one of this list.');
  }
  const start = all.findIndex(({ name }) => name > last);
  return start < 0 ? all.length : start;
}

function encode(name: string): string {
  return Buffer.from(name).toString('base64url');
}
