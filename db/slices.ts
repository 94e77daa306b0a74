import type { Total } from './page.ts';

/** The most rows; null may stand for no limit, see `Dialect.unlimited`. */
type Limit = number | null;

/** A reader of one list, which looks at the candidates of its leading filter in the order of the list. */
export interface SliceReader<Row, K> {
  /**
   * The place of the candidate that is the last of a slice.
   *
   * @param from where the slice begins, exclusively; undefined at the first candidate
   * @returns undefined when fewer candidates are left
   */
  endOfSlice(from: K | undefined, size: number): Promise<K | undefined>;
  /** The rows that fit all filters, from one place (exclusively) to another (inclusively), or to the end of the list. */
  rows(from: K | undefined, to: K | undefined, limit: Limit): Promise<Row[]>;
  /** How many there are of these, at most `limit`. */
  count(from: K | undefined, to: K | undefined, limit: Limit): Promise<number>;
}

export interface SliceLimits {
  /** Candidates that one statement looks at. */
  slice: number;
  /** Matches that are counted: beyond, there are at least so many. */
  counted: number;
  /** Slices that are looked at to count. */
  countedSlices: number;
}

/** How a list that grows without end is read. */
export interface Pacing {
  limits: SliceLimits;
  /** Lets other work have a turn of the event loop; within a transaction it does nothing. */
  breathe(): Promise<void>;
}

/** Reads the first rows that fit, however many candidates have to be looked at, in slices. */
export async function rowsInSlices<Row, K>(
  reader: SliceReader<Row, K>,
  { limits, breathe }: Pacing,
  start: K | undefined,
  limit: number,
): Promise<Row[]> {
  const found: Row[] = [];
  let from = start;
  for (;;) {
    const to = await reader.endOfSlice(from, limits.slice);
    found.push(...(await reader.rows(from, to, limit - found.length)));
    if (found.length >= limit || to === undefined) return found;
    from = to;
    await breathe();
  }
}

/** Counts what fits, in slices, up to the bounds. */
export async function countInSlices<Row, K>(
  reader: SliceReader<Row, K>,
  { limits, breathe }: Pacing,
  counted: number,
): Promise<Total> {
  let total = 0;
  let from: K | undefined;
  for (let slice = 0; slice < limits.countedSlices; slice++) {
    const to = await reader.endOfSlice(from, limits.slice);
    total += await reader.count(from, to, counted + 1 - total);
    if (total > counted) return { total: counted, totalIsExact: false };
    if (to === undefined) return { total, totalIsExact: true };
    from = to;
    await breathe();
  }
  return { total, totalIsExact: false };
}
