/**
 * A page of a list that is ordered from newest to oldest. Without a cursor it is the first page; `after` asks for the rows that
 * follow the row of that id (older), `before` for those that precede it (newer). The row of the cursor may be gone meanwhile.
 */
export interface PageRequest {
  /** The most rows that are wanted, 1 to 100. */
  size: number;
  /** An id: the last row of the page before. */
  after?: string | undefined;
  /** An id: the first row of the page after. */
  before?: string | undefined;
}

export interface Page<Row> {
  rows: Row[];
  /** Whether older rows follow the last one. An empty page has no neighbours. */
  hasNext: boolean;
  /** Whether newer rows precede the first one. */
  hasPrevious: boolean;
  /** How many rows fit the filters, over all pages, exactly. */
  total: number;
}

/** The three queries of a keyset list, over rows of one order column `K`. */
export interface KeysetQueries<Row, K> {
  /** The newest rows, newest first. */
  newest(limit: number): Row[];
  /** The rows that follow a place, newest first. */
  older(place: K, limit: number): Row[];
  /** The rows that precede a place, oldest first. */
  newer(place: K, limit: number): Row[];
  total(): number;
  /** A row's place in the order. */
  placeOf(row: Row): K;
  /** The place that a cursor names, or undefined when it names none: the page is then empty. */
  placeOfCursor(id: string): K | undefined;
}

/** Reads one page: one row more than asked for tells whether the list goes on, one probe whether there is something behind. */
export function readPage<Row, K>(queries: KeysetQueries<Row, K>, request: PageRequest): Page<Row> {
  const { size, after, before } = request;
  const total = queries.total();
  // Not only the shortest way: a scan for two frequent values that never meet is the longest one.
  if (total === 0) return { rows: [], hasNext: false, hasPrevious: false, total };
  const cursor = before ?? after;
  if (cursor === undefined) {
    const rows = queries.newest(size + 1);
    return { rows: rows.slice(0, size), hasNext: rows.length > size, hasPrevious: false, total };
  }
  const place = queries.placeOfCursor(cursor);
  if (place === undefined) return { rows: [], hasNext: false, hasPrevious: false, total };
  const forward = before === undefined;
  const found = forward ? queries.older(place, size + 1) : queries.newer(place, size + 1);
  const more = found.length > size;
  const rows = found.slice(0, size);
  if (!forward) rows.reverse();
  const edge = forward ? rows[0] : rows.at(-1);
  if (edge === undefined) return { rows, hasNext: false, hasPrevious: false, total };
  const edgePlace = queries.placeOf(edge);
  const behind = (forward ? queries.newer(edgePlace, 1) : queries.older(edgePlace, 1)).length > 0;
  return { rows, hasNext: forward ? more : behind, hasPrevious: forward ? behind : more, total };
}
