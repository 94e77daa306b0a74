/**
 * A request for a page of a list that is sorted from newest to oldest. Without a cursor it is the first page. `after`
 * requests the rows that follow the row of that id (older), `before` those that precede it (newer). The row of the
 * cursor may have been deleted meanwhile.
 */
export interface PageRequest {
  /** The maximum number of rows, 1 to 100. */
  size: number;
  /** The id of the last row of the previous page. */
  after?: string | undefined;
  /** The id of the first row of the following page. */
  before?: string | undefined;
}

/** How many rows match the filters, over all pages. */
export interface Total {
  total: number;
  /** False if `total` is a lower bound, because counting stopped at a limit. */
  totalIsExact: boolean;
}

export interface Page<Row> extends Total {
  rows: Row[];
  /** Whether older rows follow the last one. False for an empty page. */
  hasNext: boolean;
  /** Whether newer rows precede the first one. False for an empty page. */
  hasPrevious: boolean;
}

/**
 * The queries of a keyset list whose rows are ordered by a column `K`. Each may take several turns of the event loop.
 */
export interface KeysetQueries<Row, K> {
  /** Returns the newest rows, newest first. */
  newest(limit: number): Promise<Row[]>;
  /** Returns the rows that follow a position, newest first. */
  older(place: K, limit: number): Promise<Row[]>;
  /** Returns the rows that precede a position, oldest first. */
  newer(place: K, limit: number): Promise<Row[]>;
  total(): Promise<Total>;
  /** Returns a row's position in the order. */
  placeOf(row: Row): K;
  /** Returns the position of a cursor; undefined for an unknown cursor, and then the page is empty. */
  placeOfCursor(id: string): Promise<K | undefined>;
}

/**
 * Reads one page. It reads one row more than requested, which shows whether the list continues. If the request has a
 * cursor, it also reads one row in the other direction, which shows whether the page is the first in that direction.
 */
export async function readPage<Row, K>(queries: KeysetQueries<Row, K>, request: PageRequest): Promise<Page<Row>> {
  const { size, after, before } = request;
  const counted = await queries.total();
  const { total, totalIsExact } = counted;
  // This check also avoids a slow query: a search for two frequent values without a common row would read every row.
  if (total === 0 && totalIsExact) return emptyPage(counted);
  const cursor = before ?? after;
  if (cursor === undefined) {
    // With an exact total, the query asks for no more rows than match, so that it stops at the last match.
    const wanted = totalIsExact ? Math.min(size + 1, total) : size + 1;
    const rows = await queries.newest(wanted);
    return withTotal(counted, { rows: rows.slice(0, size), hasNext: rows.length > size, hasPrevious: false });
  }
  const place = await queries.placeOfCursor(cursor);
  if (place === undefined) return emptyPage(counted);
  const forward = before === undefined;
  const found = await (forward ? queries.older(place, size + 1) : queries.newer(place, size + 1));
  const more = found.length > size;
  const rows = found.slice(0, size);
  if (!forward) rows.reverse();
  const edge = forward ? rows[0] : rows.at(-1);
  if (edge === undefined) return emptyPage(counted);
  const edgePlace = queries.placeOf(edge);
  const behind = (await (forward ? queries.newer(edgePlace, 1) : queries.older(edgePlace, 1))).length > 0;
  return withTotal(counted, { rows, hasNext: forward ? more : behind, hasPrevious: forward ? behind : more });
}

export function emptyPage<Row>(total: Total = { total: 0, totalIsExact: true }): Page<Row> {
  return { rows: [], hasNext: false, hasPrevious: false, ...total };
}

/** Returns a page with its total. If counting stopped early, the total is at least the number of rows on the page. */
function withTotal<Row>({ total, totalIsExact }: Total, page: Omit<Page<Row>, keyof Total>): Page<Row> {
  return { ...page, total: totalIsExact ? total : Math.max(total, page.rows.length), totalIsExact };
}
