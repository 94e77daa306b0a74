import { TOOL_RESULT } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import { type PreparedCall, pageOf } from '../tools/call.ts';
import type { Cut, PagesRead, ToolOutcome, Truncation } from '../tools/outcome.ts';
import { atPointer, isRecord, withPointer } from '../tools/pointer.ts';
import { sizeOf } from '../tools/shrink.ts';
import type { Tool } from '../tools/tool.ts';

/** The limits at which reading stops, even if there are more pages. */
export interface PageLimits {
  pages: number;
  /** The maximum size of all pages together as JSON, in bytes. The first page may be larger. */
  bytes: number;
  /** No further page is requested after this time, in milliseconds. */
  timeMs: number;
}

const PAGE_LIMITS: Readonly<PageLimits> = {
  pages: TOOL_RESULT.pages,
  bytes: TOOL_RESULT.pagesBytes,
  timeMs: TOOL_RESULT.pagesMs,
};

type Success = ToolOutcome & { ok: true };

/**
 * Reads a result page by page and joins the lists of the pages. It stops early at its limits, if a page fails, if a
 * cursor repeats, or if the first page contains no list that could be joined. `nextCursor` then names the first page
 * that is not part of the result.
 *
 * @param run makes one call
 * @returns the failure of the first page, or the joined result
 */
export async function readAllPages(
  call: PreparedCall,
  run: (call: PreparedCall) => Promise<ToolOutcome>,
  now: () => number,
  limits: PageLimits = PAGE_LIMITS,
): Promise<ToolOutcome> {
  const startedAt = now();
  const first = await run(call);
  if (!first.ok) return first;
  const place = listPlace(call.tool, first.data);
  const pages: Success[] = [first];
  const seen = new Set<string>();
  let bytes = sizeOf(first.data);
  let cursor = first.nextCursor;
  let stop: string | undefined;

  while (cursor !== undefined && stop === undefined) {
    if (place === undefined) stop = 'the result has no list that could be joined';
    else if (pages.length === limits.pages) stop = `one call reads at most ${limits.pages} pages`;
    else if (now() - startedAt >= limits.timeMs)
      stop = `the time limit of one call was reached (${limits.timeMs / 1000} seconds)`;
    else if (seen.has(cursor)) stop = 'the provider returned the same page twice';
    if (stop !== undefined) break;
    seen.add(cursor);
    const page = await run(pageOf(call, cursor)).catch(apiError);
    if (page instanceof ApiError || !page.ok) {
      stop = `the next page failed: ${page instanceof ApiError ? page.message : page.error.message}`;
    } else if (bytes + sizeOf(page.data) > limits.bytes) {
      stop = `one call returns at most ${limits.bytes} bytes`;
    } else {
      pages.push(page);
      bytes += sizeOf(page.data);
      cursor = page.nextCursor;
    }
  }

  const data = place === undefined ? first.data : joined(first.data, place, pages);
  const truncated = place === undefined ? first.truncated : joinedTruncation(place, pages);
  return { ...first, data, nextCursor: cursor, truncated, pages: pagesRead(pages.length, stop) };
}

/** Returns an ApiError, for example SERVER_BUSY if too many refreshes are running; throws any other error again. */
function apiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  throw error;
}

function pagesRead(count: number, stop: string | undefined): PagesRead {
  const read = count === 1 ? '1 page was read' : `${count} pages were read`;
  return stop === undefined
    ? { count, complete: true, statement: `${read}; there are no more pages.` }
    : { count, complete: false, statement: `${read}; continue with next_cursor: ${stop}.` };
}

/**
 * Returns the JSON pointer of the list in `data`: the whole value, the place that the tool's pagination names, or the
 * only list among the members of the value. Returns undefined if there is none of these.
 */
function listPlace({ pagination, response }: Tool, data: unknown): string | undefined {
  if (Array.isArray(data)) return '';
  const { items } = pagination?.response ?? {};
  const { select = '' } = response ?? {};
  const within = items?.startsWith(`${select}/`) ? items.slice(select.length) : undefined;
  if (within !== undefined && Array.isArray(atPointer(data, within))) return within;
  const lists = Object.entries(isRecord(data) ? data : {}).filter(([, member]) => Array.isArray(member));
  const [list, ...others] = lists.map(([name]) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  return others.length === 0 ? list : undefined;
}

function joined(data: unknown, place: string, pages: readonly Success[]): unknown {
  const items = pages.flatMap((page) => listAt(place, page));
  return withPointer(data, place, items);
}

function listAt(place: string, { data }: Success): unknown[] {
  const list = atPointer(data, place);
  return Array.isArray(list) ? list : [];
}

/** Joins what was removed from the pages. The pointers lead into the joined result, as `joined` returns it. */
function joinedTruncation(place: string, pages: readonly Success[]): Truncation | undefined {
  const statements = new Set<string>();
  const cuts: Cut[] = [];
  let items = 0;
  let removed = 0;
  for (const page of pages) {
    const { statement, cuts: all = [] } = page.truncated ?? {};
    const ofList = all.filter(({ path }) => path === place || path.startsWith(`${place}/`));
    const kept = page === pages[0] ? all : ofList;
    if (statement !== undefined && (kept.length > 0 || all.length === 0)) statements.add(statement);
    for (const cut of kept) {
      if (cut.path === place) removed += cut.of - cut.kept;
      else cuts.push(ofList.includes(cut) ? { ...cut, path: shifted(cut.path, place, items) } : cut);
    }
    items += listAt(place, page).length;
  }
  if (removed > 0) cuts.unshift({ path: place, kept: items, of: items + removed, unit: 'items' });
  return statements.size === 0 ? undefined : { statement: [...statements].join(' '), cuts };
}

/** Adds a number to the index that follows the pointer of the list. */
function shifted(path: string, place: string, by: number): string {
  const [index, ...rest] = path.slice(place.length + 1).split('/');
  return [place, Number(index) + by, ...rest].join('/');
}
