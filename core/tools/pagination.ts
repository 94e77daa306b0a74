import { MASK } from '../secret.ts';
import { inputProblem } from './input-problem.ts';
import { nextLink } from './link-header.ts';
import { atPointer, isRecord } from './pointer.ts';
import type { Tool, ToolPagination } from './tool.ts';

/** The value in a cursor: the provider's own cursor, a page number, an offset, or a query. */
export type CursorValue = string | number;

/** The part of a tool that pagination needs. */
export type PagedTool = Pick<Tool, 'name' | 'pagination'>;

/** The parts of a response that pagination needs. */
export interface PageResponse {
  /** The values of the Link header. */
  link: string | undefined;
  body: unknown;
}

const MAX_QUERY_LENGTH = 4096;
/**
 * Visible ASCII characters except `"`, `<` and `>`, which a URL parser percent-encodes in a query, and `#`, which would
 * begin a fragment.
 */
const QUERY = /^[!$-;=?-~]+$/;

/**
 * Reads a cursor from a caller. Cursors are not signed, so the caller may have written the cursor.
 *
 * @throws ApiError INVALID_TOOL_INPUT if the cursor does not have the format of this tool's cursors
 */
export function openCursor(tool: Tool, cursor: string): CursorValue {
  const opened = parseJson(Buffer.from(cursor, 'base64url').toString('utf8'));
  const value = isRecord(opened) && opened['tool'] === tool.name ? opened['at'] : undefined;
  if (!fits(tool.pagination?.style, value))
    throw inputProblem('cursor', 'must be the next_cursor of an earlier response of this tool');
  return value as CursorValue;
}

function fits(style: ToolPagination['style'] | undefined, value: unknown): boolean {
  const counted = Number.isSafeInteger(value) && Number(value) >= 0;
  if (style === 'page' || style === 'offset') return counted;
  if (style === 'cursor') return counted || isText(value);
  return isText(value) && QUERY.test(value);
}

/**
 * Returns the cursor of the next page.
 *
 * @param input the input of the call, with defaults
 * @param at the position of this call; undefined for the first page
 * @param hidden the names of query parameters that contain a credential: an address in a response may repeat them, but
 * a cursor must not contain them
 * @param scrub removes every secret of the call. The response text was scrubbed before, but the removal of line breaks
 * from an address can join the parts of a secret
 * @returns the opaque cursor; undefined on the last page, or if the provider's cursor is unusable or contains a secret
 */
export function nextCursor(
  tool: PagedTool,
  input: Readonly<Record<string, unknown>>,
  at: CursorValue | undefined,
  answer: PageResponse,
  hidden: readonly string[] = [],
  scrub: (text: string) => string = String,
): string | undefined {
  const next = nextPlace(tool, input, at, answer, hidden);
  // If the provider's cursor contains a secret, the cursor cannot be used without it.
  if (next === undefined || scrub(String(next)).includes(MASK)) return undefined;
  return Buffer.from(JSON.stringify({ tool: tool.name, at: next })).toString('base64url');
}

function nextPlace(
  tool: PagedTool,
  input: Readonly<Record<string, unknown>>,
  at: CursorValue | undefined,
  answer: PageResponse,
  hidden: readonly string[],
): CursorValue | undefined {
  const { style, response = {} } = tool.pagination ?? { style: undefined };
  switch (style) {
    case undefined:
      return undefined;
    case 'link_header':
      return queryOf(nextLink(answer.link), hidden);
    case 'next_url':
      return queryOf(atPointer(answer.body, response.cursor ?? ''), hidden);
    case 'cursor':
      return nextOfCursor(tool, answer.body);
    case 'page': {
      const first = tool.pagination?.request?.first ?? 1;
      const page = at === undefined ? first : Number(at);
      return hasNextPage(tool, input, answer.body, page - first + 1) ? page + 1 : undefined;
    }
    case 'offset': {
      const offset = (at === undefined ? 0 : Number(at)) + itemsRead(tool, input, answer.body);
      return hasNextPage(tool, input, answer.body, offset) ? offset : undefined;
    }
  }
}

function nextOfCursor(tool: PagedTool, body: unknown): CursorValue | undefined {
  const { cursor, has_more, item_cursor } = tool.pagination?.response ?? {};
  if (has_more !== undefined && atPointer(body, has_more) !== true) return undefined;
  const value =
    cursor === undefined ? atPointer(itemsOf(tool, body).at(-1), item_cursor ?? '') : atPointer(body, cursor);
  return isText(value) || Number.isSafeInteger(value) ? (value as CursorValue) : undefined;
}

/** @param reached how many pages (style page) or items (style offset) have been read, including this response */
function hasNextPage(
  tool: PagedTool,
  input: Readonly<Record<string, unknown>>,
  body: unknown,
  reached: number,
): boolean {
  const { has_more, total, items } = tool.pagination?.response ?? {};
  if (items !== undefined && itemsOf(tool, body).length === 0) return false;
  if (has_more !== undefined) return atPointer(body, has_more) === true;
  if (total !== undefined) return Number(atPointer(body, total)) > reached;
  const size = pageSize(tool, input);
  return size === undefined || itemsRead(tool, input, body) >= size;
}

/**
 * Returns the number of items by which a page advances the offset. If the API reads a page and then filters it, this is
 * more than the number of items in the response.
 */
function itemsRead(tool: PagedTool, input: Readonly<Record<string, unknown>>, body: unknown): number {
  const { length } = itemsOf(tool, body);
  return tool.pagination?.request?.filtered ? (pageSize(tool, input) ?? length) : length;
}

function pageSize(tool: PagedTool, input: Readonly<Record<string, unknown>>): number | undefined {
  const size = input[tool.pagination?.request?.page_size_input ?? ''];
  return typeof size === 'number' ? size : undefined;
}

function itemsOf(tool: PagedTool, body: unknown): unknown[] {
  const items = atPointer(body, tool.pagination?.response?.items ?? '');
  return Array.isArray(items) ? items : [];
}

/**
 * Returns the query of an absolute or relative address without the `hidden` parameters; the rest of the address is
 * never used. Returns undefined if the query is empty, too long, or not percent-encoded.
 */
function queryOf(address: unknown, hidden: readonly string[]): string | undefined {
  const url = isText(address) ? URL.parse(address, 'https://relative.invalid') : null;
  const pairs = (url?.search ?? '')
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && !hidden.includes(nameOfPair(pair)));
  const query = pairs.join('&');
  return QUERY.test(query) && query.length <= MAX_QUERY_LENGTH ? query : undefined;
}

/** Returns a query with one parameter replaced or added. */
export function withParameter(query: string, name: string, encodedPair: string): string {
  return [...query.split('&').filter((pair) => pair !== '' && nameOfPair(pair) !== name), encodedPair].join('&');
}

/** Returns the name in a pair `name=value` of a query, decoded if possible. */
export function nameOfPair(pair: string): string {
  const name = pair.split('=', 1)[0] ?? '';
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
