import type { Page, PageRequest, Total } from '../db/page.ts';
import { LIFETIME } from './budgets.ts';
import { ApiError } from './errors.ts';
import type { SealedTokens } from './vault/sealed-token.ts';

/**
 * The list that a page token is bound to: the token can be decrypted only for the same list in the same environment
 * with the same filters.
 */
export interface PageScope {
  environmentId: string;
  /** The operation id of the list. */
  list: string;
  /** Filters by name; absent ones are omitted. */
  filters: Record<string, unknown>;
}

export interface PageTokens {
  next_page_token: string;
  prev_page_token: string;
}

const PURPOSE = 'page';
const DEFAULT_SIZE = 20;

/**
 * Reads a `page_token`.
 *
 * @param token as the client sent it; undefined or empty for the first page
 * @throws ApiError INVALID_PAGE_TOKEN if the token has expired or does not belong to this list with these filters
 */
export function readPage(
  tokens: SealedTokens,
  scope: PageScope,
  token: string | undefined,
  size = DEFAULT_SIZE,
): PageRequest {
  if (!token) return { size };
  const boundary = tokens.open(PURPOSE, bind(scope), token);
  if (boundary === null) {
    throw new ApiError(
      'INVALID_PAGE_TOKEN',
      'The page token is invalid or expired, or belongs to another list or other filters. Start again without page_token.',
      {
        errors: [{ field: 'page_token', message: 'is not valid for this request' }],
      },
    );
  }
  const [direction, id = ''] = boundary.split(' ');
  return direction === 'after' ? { size, after: id } : { size, before: id };
}

/**
 * Returns the tokens of the next and the previous page; an empty text for a page that does not exist.
 *
 * @param now milliseconds UTC
 */
export function pageTokens<Row extends { id: string }>(
  tokens: SealedTokens,
  scope: PageScope,
  page: Page<Row>,
  now: number,
): PageTokens {
  const seal = (boundary: string) => tokens.seal(PURPOSE, bind(scope), boundary, now + LIFETIME.pageTokenMs);
  const first = page.rows[0];
  const last = page.rows.at(-1);
  return {
    next_page_token: page.hasNext && last ? seal(`after ${last.id}`) : '',
    prev_page_token: page.hasPrevious && first ? seal(`before ${first.id}`) : '',
  };
}

/** Returns the total of a list, and marks it as a lower bound if counting stopped at a limit. */
export function totalSize({ total, totalIsExact }: Total): { total_size: number; total_size_is_lower_bound?: true } {
  return { total_size: total, ...(!totalIsExact && { total_size_is_lower_bound: true }) };
}

function bind({ environmentId, list, filters }: PageScope): string[] {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return [environmentId, list, JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1)))];
}

/** Returns one page of a list in memory. If the row in the page token was removed from the list, the page is empty. */
export function pageOfList<Row extends { id: string }>(all: readonly Row[], request: PageRequest): Page<Row> {
  const [start, end] = boundsOf(all, request);
  const neighbours = { hasNext: end < all.length, hasPrevious: start > 0 };
  return { rows: all.slice(start, end), ...neighbours, total: all.length, totalIsExact: true };
}

/**
 * Reduces a page to `taken` rows and keeps the rows next to the cursor: the first rows, or the last rows if the page
 * was requested with `before`. Returns a page with at most `taken` rows unchanged.
 */
export function shortened<Row>(page: Page<Row>, { before }: PageRequest, taken: number): Page<Row> {
  if (taken >= page.rows.length) return page;
  if (before === undefined) return { ...page, rows: page.rows.slice(0, taken), hasNext: true };
  return { ...page, rows: page.rows.slice(-taken), hasPrevious: true };
}

function boundsOf(all: readonly { id: string }[], { size, after, before }: PageRequest): [number, number] {
  if (after === undefined && before === undefined) return [0, Math.min(size, all.length)];
  const at = all.findIndex((row) => row.id === (after ?? before));
  if (at < 0) return [all.length, all.length];
  return after === undefined ? [Math.max(0, at - size), at] : [at + 1, Math.min(at + 1 + size, all.length)];
}
