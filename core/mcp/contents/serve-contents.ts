import type {
  GetPromptResult,
  InputRequiredResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  McpRequestContext,
  ReadResourceResult,
  Server,
  ServerContext,
} from '@modelcontextprotocol/server';
import { ApiError } from '../../errors.ts';
import type { ToolErrorKind } from '../../tools/outcome.ts';
import { displayName } from '../ask-to-connect.ts';
import { type AskedClient, askToOpenLink, declined, describeLink, wasDeclined } from '../ask-user.ts';
import { type BoundCall, sealConnectState } from '../connect-state.ts';
import { logged, readState, watchOf } from '../request-context.ts';
import { describeFailure } from '../results.ts';
import type { McpMapping } from '../server-definition.ts';
import { type McpSession, sessionOf } from '../session.ts';
import type { ToolServerDeps } from '../tool-server-deps.ts';
import type { Content } from '../upstream/content-results.ts';
import { contentOrLink } from './content-or-link.ts';
import { type ContentList, contentMappings, listContents } from './list-contents.ts';
import { readOfferedPrompt, readOfferedUri } from './names.ts';
import type { ContentRequest } from './read-content.ts';

type Sdk = typeof import('@modelcontextprotocol/server');

/** Server-specific JSON-RPC errors are between -32000 and -32099. */
const FAILED = -32000;
/** The member of `_meta` of a list that names the connections whose contents are missing. */
const UNAVAILABLE = 'valetkey/unavailable';

const LISTS = { listChanged: true };

export interface ContentCapabilities {
  resources?: object;
  prompts?: object;
}

/**
 * Returns the capabilities of a server that passes on resources or prompts of third-party MCP servers. Resources and
 * prompts contain data of the user's account, so without the scope `tools:call` the server declares neither capability.
 */
export function contentCapabilities(session: McpSession): ContentCapabilities {
  const offers = (kind: 'resources' | 'prompts') =>
    session.grant.scopes.includes('tools:call') && contentMappings(session, kind).length > 0;
  return { ...(offers('resources') && { resources: LISTS }), ...(offers('prompts') && { prompts: LISTS }) };
}

/** Registers the handlers of the methods that the capabilities allow. */
export function serveContents(
  sdk: Sdk,
  deps: ToolServerDeps,
  { era, server }: { era: McpRequestContext['era']; server: Server },
  { resources, prompts }: ContentCapabilities,
): void {
  const list = <T>(method: ContentList, member: string, cursor: string | undefined, ctx: ServerContext) =>
    answered(sdk, deps, () => listed(sdk, deps, method, member, cursor, ctx)) as Promise<T>;
  const read = <T>(method: ContentRequest['method'], name: string, input: object, ctx: ServerContext) =>
    answered(sdk, deps, () => content(sdk, deps, { era, server, ctx }, method, name, input)) as Promise<T>;
  if (resources) {
    server.setRequestHandler('resources/list', ({ params }, ctx) =>
      list<ListResourcesResult>('resources/list', 'resources', params?.cursor, ctx),
    );
    server.setRequestHandler('resources/templates/list', ({ params }, ctx) =>
      list<ListResourceTemplatesResult>('resources/templates/list', 'resourceTemplates', params?.cursor, ctx),
    );
    server.setRequestHandler('resources/read', ({ params: { uri } }, ctx) =>
      read<ReadResourceResult>('resources/read', uri, {}, ctx),
    );
  }
  if (prompts) {
    server.setRequestHandler('prompts/list', ({ params }, ctx) =>
      list<ListPromptsResult>('prompts/list', 'prompts', params?.cursor, ctx),
    );
    server.setRequestHandler('prompts/get', ({ params: { name, arguments: input = {} } }, ctx) =>
      read<GetPromptResult>('prompts/get', name, input, ctx),
    );
  }
}

async function listed(
  sdk: Sdk,
  deps: ToolServerDeps,
  method: ContentList,
  member: string,
  cursor: string | undefined,
  { http, mcpReq }: ServerContext,
): Promise<Content> {
  const found = await listContents(deps, sessionOf(http?.authInfo), method, cursor, mcpReq.signal);
  if (!found) {
    throw new sdk.ProtocolError(
      sdk.ProtocolErrorCode.InvalidParams,
      'The cursor does not belong to this list. Begin without a cursor.',
    );
  }
  const { items, nextCursor, unavailable } = found;
  return {
    [member]: items,
    ...(nextCursor !== undefined && { nextCursor }),
    ...(unavailable.length > 0 && { _meta: { [UNAVAILABLE]: unavailable } }),
  };
}

async function content(
  sdk: Sdk,
  deps: ToolServerDeps,
  client: AskedClient,
  method: ContentRequest['method'],
  name: string,
  input: object,
): Promise<Content | InputRequiredResult> {
  const { ctx } = client;
  const session = sessionOf(ctx.http?.authInfo);
  const found = method === 'resources/read' ? findResource(session, name) : findPrompt(session, name, input);
  if (!found) {
    if (method === 'resources/read') throw new sdk.ResourceNotFoundError(name);
    const message = `Unknown prompt ${name}. prompts/list returns the names.`;
    throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, message);
  }
  const { mapping, params } = found;
  const bound: BoundCall = { session, method, name, input };
  const earlierLink = readState(sdk, deps.sealedStates, bound, ctx);
  if (earlierLink && wasDeclined(ctx)) throw declined(await displayName(deps, mapping.connection));
  const response = await contentOrLink(deps, session, mapping, { method, params, watch: watchOf(ctx), earlierLink });
  if (response.kind === 'content') return response.content;
  const { link, message, waited } = response;
  const seal = () => sealConnectState(deps.sealedStates, bound, link);
  const linkRequest = { link, message, requestId: session.requestId, seal };
  const asked = waited ? undefined : askToOpenLink(sdk, client, linkRequest);
  if (!asked) throw describeLink(link, message);
  return asked;
}

type Found = { mapping: McpMapping; params: Content };

function findResource(session: McpSession, text: string): Found | undefined {
  const named = readOfferedUri(text);
  const mapping = contentMappings(session, 'resources').find(({ connection }) => connection.id === named?.connectionId);
  return named && mapping && { mapping, params: { uri: named.uri } };
}

function findPrompt(session: McpSession, text: string, input: object): Found | undefined {
  const named = readOfferedPrompt(text);
  const mapping = contentMappings(session, 'prompts').find(({ connection }) => connection.keyId === named?.keyId);
  return named && mapping && { mapping, params: { name: named.name, arguments: input } };
}

/**
 * Runs a handler. An `ApiError` is rethrown as a JSON-RPC error whose `data` has the members of a failed call. Other
 * errors that are not protocol errors are logged and rethrown.
 */
async function answered<T>(sdk: Sdk, deps: ToolServerDeps, run: () => Promise<T>): Promise<T> {
  return logged(sdk, deps, () =>
    run().catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      throw new sdk.ProtocolError(codeOf(sdk, error), error.message, describeFailure(error));
    }),
  );
}

/**
 * Returns the JSON-RPC code of a failure: invalid parameters if the third-party server does not know the resource or
 * prompt or rejects its arguments, otherwise a general server error.
 */
function codeOf(sdk: Sdk, { extra }: ApiError): number {
  const { kind } = (extra?.['tool_error'] ?? {}) as { kind?: ToolErrorKind };
  const isRejected = kind === 'upstream_not_found' || kind === 'upstream_bad_request';
  return isRejected ? sdk.ProtocolErrorCode.InvalidParams : FAILED;
}
