import type { ConnectionRow } from '../../../db/store.ts';
import { MCP_SERVER, MCP_UPSTREAM } from '../../budgets.ts';
import { ApiError } from '../../errors.ts';
import type { Cause } from '../../events/events.ts';
import type { ToolError } from '../../tools/outcome.ts';
import { isRecord } from '../../tools/pointer.ts';
import type { CallDeps } from '../call-tool.ts';
import type { McpMapping } from '../server-definition.ts';
import type { McpSession } from '../session.ts';
import type { Content, ListedContents } from '../upstream/content-results.ts';
import { readUpstream } from '../upstream/use-account.ts';
import { offeredItem } from './names.ts';
import { usableAccount } from './usable-account.ts';

/** The list methods that are forwarded to third-party MCP servers, and the member of a mapping that enables each. */
const CONTENT_LISTS = {
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'prompts/list': 'prompts',
} as const;

export type ContentList = keyof typeof CONTENT_LISTS;

/** A connection with resources or prompts that are missing in a list, and the reason, for the user. */
export interface Unavailable {
  connection: string;
  message: string;
}

export interface OfferedContents {
  items: Content[];
  /** Absent on the last page. */
  nextCursor?: string;
  unavailable: Unavailable[];
}

/**
 * The next page to read: its connection, the number of pages of this connection that were read before it, and the
 * cursor of the third-party MCP server (undefined for its first page).
 */
interface Place {
  connectionId: string;
  page: number;
  cursor: string | undefined;
}

const EMPTY: ListedContents = { items: [], omitted: 0, bytes: 0, nextCursor: undefined };
const NOT_CONNECTED = 'The user has no active account. A tool call returns how to connect one.';

/**
 * Returns the mappings of a session's MCP server that offer resources (or prompts, by `kind`). Disabled connections are
 * left out. If several mappings have the same connection, only the first of them is returned.
 */
export function contentMappings({ server }: McpSession, kind: 'resources' | 'prompts'): McpMapping[] {
  return server.mappings.filter(
    ({ connection, [kind]: offered }, index, all) =>
      offered && connection.enabled && all.findIndex((other) => other[kind] && isSame(other, connection)) === index,
  );
}

function isSame(mapping: McpMapping, connection: McpMapping['connection']): boolean {
  return mapping.connection.id === connection.id;
}

/**
 * Lists the resources or prompts of the third-party MCP servers that the session's connections lead to, with the
 * accounts of the session's user. The third-party servers are read one after the other, until a page is full or the
 * time is over. If one fails, the items of the others are returned, and `unavailable` names its connection.
 *
 * @param cursor from the previous page; undefined for the first page
 * @returns null if the cursor does not belong to this list
 * @throws ApiError TOOL_FAILED if all remaining servers were read, one of them failed, and none of them returned an
 * item
 */
export async function listContents(
  deps: CallDeps,
  session: McpSession,
  method: ContentList,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<OfferedContents | null> {
  const connections = contentMappings(session, CONTENT_LISTS[method]).map(({ connection }) => connection);
  const begin = cursor === undefined ? undefined : readCursor(cursor);
  const first = begin === undefined ? 0 : connections.findIndex(({ id }) => id === begin?.connectionId);
  if (first < 0) return null;
  const found: OfferedContents = { items: [], unavailable: [] };
  const until = deps.now() + MCP_SERVER.contentsMs;
  let failure: ToolError | undefined;
  let bytes = 0;
  let place: Place | undefined = begin ?? undefined;
  for (const connection of connections.slice(first)) {
    place ??= placeOf(connection);
    while (place) {
      const read = await readPage(deps, session, method, connection, place.cursor, signal);
      if ('message' in read) {
        found.unavailable.push({ connection: connection.keyId, message: read.message });
        failure ??= read.failure;
      } else {
        found.items.push(...read.items.map((item) => offeredItem(connection, item)));
        bytes += read.bytes;
        if (read.omitted > 0) found.unavailable.push({ connection: connection.keyId, message: leftOut(read.omitted) });
      }
      place = 'message' in read ? undefined : placeAfter(place, read.nextCursor);
      const next = place ?? placeOf(connections[connections.indexOf(connection) + 1]);
      if (next && isFull()) return { ...found, nextCursor: writeCursor(next) };
    }
  }
  if (failure && found.items.length === 0) {
    throw new ApiError('TOOL_FAILED', failure.message);
  }
  return found;

  function isFull(): boolean {
    const { contentsPerPage, contentsBytes } = MCP_SERVER;
    return found.items.length >= contentsPerPage || bytes >= contentsBytes || deps.now() >= until;
  }
}

/** Reads one page from one third-party MCP server. @returns the page, or the reason why it cannot be read */
async function readPage(
  deps: CallDeps,
  session: McpSession,
  method: ContentList,
  connection: ConnectionRow,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListedContents | { message: string; failure?: ToolError }> {
  const { environment, grant, requestId } = session;
  const cause: Cause = { environmentId: environment.id, actor: grant.clientId, requestId };
  const limits = { silenceMs: MCP_SERVER.contentsMs, bytes: MCP_UPSTREAM.responseBytes };
  try {
    const account = await usableAccount(deps, session, connection, cause);
    if (account?.status !== 'ACTIVE') return { message: NOT_CONNECTED };
    const request = { method, params: cursor === undefined ? {} : { cursor }, ...limits, signal };
    const outcome = await readUpstream(deps, environment, account, cause, request);
    if (outcome.ok) return outcome.value ?? { message: 'The MCP server returned an invalid list.' };
    const { error } = outcome;
    return isUnsupported(error) ? EMPTY : { message: error.message, failure: error };
  } catch (error) {
    // The account cannot be used. The message is written for its user.
    if (error instanceof ApiError) return { message: error.message };
    throw error;
  }
}

function leftOut(count: number): string {
  return `The MCP server lists ${count} more on one page, of which Valetkey reads ${MCP_UPSTREAM.contents}.`;
}

/** Whether a third-party server does not know the list method, because it has no resources or no prompts. */
function isUnsupported({ kind, upstreamStatus }: ToolError): boolean {
  return kind === 'upstream_not_found' && upstreamStatus === undefined;
}

function placeOf(connection: ConnectionRow | undefined): Place | undefined {
  return connection && { connectionId: connection.id, page: 0, cursor: undefined };
}

/**
 * Returns the next page of the same connection.
 *
 * @returns undefined after the last page, if the server repeats its cursor, or after the maximum number of pages
 */
function placeAfter({ connectionId, page, cursor }: Place, next: string | undefined): Place | undefined {
  const isLast = next === undefined || next === cursor || page + 1 === MCP_UPSTREAM.listPages;
  return isLast ? undefined : { connectionId, page: page + 1, cursor: next };
}

function writeCursor({ connectionId, page, cursor }: Place): string {
  return Buffer.from(JSON.stringify({ connectionId, page, cursor: cursor ?? null })).toString('base64url');
}

/** @returns null for a text that is not a cursor */
function readCursor(text: string): Place | null {
  if (text.length > 4 * MCP_UPSTREAM.cursorChars) return null;
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (!isRecord(place)) return null;
    const { connectionId, page, cursor } = place;
    const isPage = Number.isSafeInteger(page) && (page as number) >= 0 && (page as number) < MCP_UPSTREAM.listPages;
    const isCursor = cursor === null || typeof cursor === 'string';
    if (typeof connectionId !== 'string' || !isPage || !isCursor) return null;
    return { connectionId, page: page as number, cursor: typeof cursor === 'string' ? cursor : undefined };
  } catch {
    return null;
  }
}
