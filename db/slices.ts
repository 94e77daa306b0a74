import type { Total } from './page.ts';

/** The maximum number of rows. In some engines null means no limit. */
type Limit = number | null;

/**
 * A reader of one list. It reads candidates, which are the rows that match the filter whose index is used, in the order
 * of the list.
 */
export interface SliceReader<Row, K> {
  /**
   * Returns the position of the last candidate of a slice, which is a sequence of `size` candidates.
   *
   * @param from the position before the slice; undefined for the beginning
   * @returns undefined if fewer than `size` candidates are left
   */
  endOfSlice(from: K | undefined, size: number): Promise<K | undefined>;
  /**
   * Returns the rows that match all filters, from one position (exclusive) to another (inclusive), or to the end of the
   * list.
   */
  rows(from: K | undefined, to: K | undefined, limit: Limit): Promise<Row[]>;
  /** Counts the rows that `rows` would return, up to `limit`. */
  count(from: K | undefined, to: K | undefined, limit: Limit): Promise<number>;
}

export interface SliceLimits {
  /** The number of candidates that the first statement reads. */
  slice: number;
  /**
   * Each further statement reads twice as many candidates as the previous one, up to this number. If absent, every
   * statement reads the same number, for engines whose statements block the event loop.
   */
  largestSlice?: number;
  /** The maximum number of matches that are counted. */
  counted: number;
  /** The maximum number of candidates that are read to count, as a multiple of `slice`. */
  countedSlices: number;
}

/** How a list of unlimited size is read. */
export interface Pacing {
  limits: SliceLimits;
  /** Lets other work run on the event loop; does nothing within a transaction. */
  yieldToEventLoop(): Promise<void>;
}

/** Reads the first matching rows in slices, regardless of how many candidates must be read. */
export async function rowsInSlices<Row, K>(
  reader: SliceReader<Row, K>,
  { limits, yieldToEventLoop }: Pacing,
  start: K | undefined,
  limit: number,
): Promise<Row[]> {
  const found: Row[] = [];
  let from = start;
  for (let size = limits.slice; ; size = nextSize(size, limits)) {
    const to = await reader.endOfSlice(from, size);
    found.push(...(await reader.rows(from, to, limit - found.length)));
    if (found.length >= limit || to === undefined) return found;
    from = to;
    await yieldToEventLoop();
  }
}

/** Counts the matching rows in slices, up to the limits. */
export async function countInSlices<Row, K>(
  reader: SliceReader<Row, K>,
  { limits, yieldToEventLoop }: Pacing,
  counted: number,
): Promise<Total> {
  let total = 0;
  let from: K | undefined;
  let size = limits.slice;
  for (let left = limits.countedSlices * limits.slice; left > 0; left -= size, size = nextSize(size, limits)) {
    size = Math.min(size, left);
    const to = await reader.endOfSlice(from, size);
    total += await reader.count(from, to, counted + 1 - total);
    if (total > counted) return { total: counted, totalIsExact: false };
    if (to === undefined) return { total, totalIsExact: true };
    from = to;
    await yieldToEventLoop();
  }
  return { total, totalIsExact: false };
}

function nextSize(size: number, { slice, largestSlice = slice }: SliceLimits): number {
  return Math.min(size * 2, largestSlice);
}
