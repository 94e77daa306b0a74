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

/** How many rows fit the filters, over all pages. */
export interface Total {
  total: number;
  /** False when there are at least `total` rows, and possibly more: counting stopped at a bound. */
  totalIsExact: boolean;
}

export interface Page<Row> extends Total {
  rows: Row[];
  /** Whether older rows follow the last one. An empty page has no neighbours. */
  hasNext: boolean;
  /** Whether newer rows precede the first one. */
  hasPrevious: boolean;
}

/** The queries of a keyset list, over rows of one order column `K`. Each may take several turns of the event loop. */
export interface KeysetQueries<Row, K> {
  /** The newest rows, newest first. */
  newest(limit: number): Promise<Row[]>;
  /** The rows that follow a place, newest first. */
  older(place: K, limit: number): Promise<Row[]>;
  /** The rows that precede a place, oldest first. */
  newer(place: K, limit: number): Promise<Row[]>;
  total(): Promise<Total>;
  /** A row's place in the order. */
  placeOf(row: Row): K;
  /** The place that a cursor names, or undefined when it names none: the page is then empty. */
  placeOfCursor(id: string): Promise<K | undefined>;
}

/** Reads one page: one row more than asked for tells whether the list goes on, one probe whether there is something behind. */
export async function readPage<Row, K>(queries: KeysetQueries<Row, K>, request: PageRequest): Promise<Page<Row>> {
  const { size, after, before } = request;
  const counted = await queries.total();
  const { total, totalIsExact } = counted;
  // Not only the shortest way: a search for two frequent values that never meet looks at every row.
  if (total === 0 && totalIsExact) return emptyPage(counted);
  const cursor = before ?? after;
  if (cursor === undefined) {
    // The last match is the last that is looked for.
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

/** A count that stopped early never says less than the page shows. */
function withTotal<Row>({ total, totalIsExact }: Total, page: Omit<Page<Row>, keyof Total>): Page<Row> {
  return { ...page, total: totalIsExact ? total : Math.max(total, page.rows.length), totalIsExact };
}
