import { and, asc, desc, type SQL, type SQLWrapper, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { type Page, type PageRequest, readPage, type Total } from './page.ts';
import { countInSlices, type Pacing, rowsInSlices, type SliceReader } from './slices.ts';
import type { Statements } from './statements.ts';

type Values = Record<string, unknown> & { environmentId?: EnvironmentId };
type Place = string | number;
type Counted = { get(values: Values): Promise<{ total: number } | undefined> };
type Placed = { get(values: Values): Promise<{ place: Place } | undefined> };

/** `older`: from the newest row to the oldest. `newer`: the other direction. */
export type Direction = 'older' | 'newer';

/** Returns the condition of a filter. `noIndex` is written before its column if another filter's index must be used. */
export type Filter = (noIndex: SQL) => SQL;

/**
 * The conditions that limit a statement to its environment. `between` is undefined if no rows of other environments
 * can be between two positions of one environment.
 */
export type Scope = Record<'all' | 'older' | 'newer', SQL> & { between: SQL | undefined };

/**
 * A list that is paged by keyset: newest first, in both directions, with filters. Every statement has the placeholder
 * `environmentId`.
 */
export interface KeysetSource<Row, Name extends string> {
  /** The column that orders the list. */
  order: SQLWrapper;
  /**
   * The conditions that limit a statement to its environment: for the whole list, for rows older than `:place`, for
   * newer ones, and for rows between two positions.
   */
  scope: Scope;
  /**
   * The filters by the names of their placeholders, the most selective one first: its index is used, unless `large`
   * chooses another one.
   */
  filters: Record<Name, Filter>;
  /** Prepares a selection of rows with the placeholder `limit`. */
  select(where: SQL, order: SQL): { all(values: Values): Promise<Row[]> };
  /** Prepares a count; for a list with `large`, of at most `limit` rows. */
  count(where: SQL): Counted;
  /** Returns the total for these filters if it is maintained; undefined if it must be counted. */
  keptTotal?(names: Name[], values: Values): Promise<number | undefined>;
  placeOf(row: Row): Place;
  placeOfCursor(environmentId: EnvironmentId, id: string): Promise<Place | undefined>;
  /** For tables of unlimited size: a query that must check filters on each row reads the table in slices. */
  large?: LargeList<Name>;
}

export interface LargeList<Name extends string> {
  /**
   * Returns the filter whose index is read; the other filters are checked on each row. undefined to read all rows in
   * the order of the list.
   */
  lead(names: Name[], values: Values): Promise<Name | undefined>;
  /**
   * Prepares a statement that skips `offset` of the matching rows, and returns the position of the next row as `place`.
   */
  places(where: SQL, order: SQL): Placed;
  pacing: Pacing;
}

export interface KeysetList<Row, Name extends string> {
  page(
    environmentId: EnvironmentId,
    filters: Filters<Name>,
    request: PageRequest,
    options?: PageOptions,
  ): Promise<Page<Row>>;
  /** Returns a reader of the matching rows, for callers that combine several lists into pages. */
  rows(environmentId: EnvironmentId, filters: Filters<Name>): Promise<Rows<Row>>;
  /** Returns all matching rows, newest first. */
  all(environmentId: EnvironmentId, filters: Filters<Name>): Promise<Row[]>;
  /** Returns the total; only for lists without `large`. */
  total(environmentId: EnvironmentId, filters: Filters<Name>): Promise<number>;
}

export interface PageOptions {
  /** Values of placeholders that are not filters. */
  values?: Record<string, unknown>;
  /** The maximum number of matches that are counted, if it differs from the default. */
  counted?: number;
}

/** Reads the first rows after a position, or from the beginning of the list. */
export type Rows<Row> = (direction: Direction, place: Place | undefined, limit: number) => Promise<Row[]>;

/** Values by filter; absent and undefined filters are ignored. */
export type Filters<Name extends string> = { [N in Name]?: unknown };

const USE_INDEX = sql.raw('');

/** Creates a list. Each statement is prepared at its first use, for each set of filters. */
export function createKeysetList<Row, Name extends string>(
  { oncePerShape, dialect }: Statements,
  source: KeysetSource<Row, Name>,
): KeysetList<Row, Name> {
  const { scope, large } = source;
  const { noIndex, unlimited } = dialect;
  const selects = oncePerShape<{ all(values: Values): Promise<Row[]> }>();
  const counts = oncePerShape<Counted>();
  const ends = oncePerShape<Placed>();
  const order = Object.keys(source.filters) as Name[];

  function present(filters: Filters<Name>): Name[] {
    return order.filter((name) => filters[name] !== undefined);
  }

  /**
   * Returns the conditions for a part of the list: from `:place` (exclusive) to `:end` (inclusive), if these are given.
   */
  function where(names: Name[], lead: Name | undefined, direction: Direction, from: unknown, to: unknown): SQL {
    const older = direction === 'older';
    const place = older
      ? sql`${source.order} < ${sql.placeholder('place')}`
      : sql`${source.order} > ${sql.placeholder('place')}`;
    const end = older
      ? sql`${source.order} >= ${sql.placeholder('end')}`
      : sql`${source.order} <= ${sql.placeholder('end')}`;
    const bounds = [
      from === undefined ? undefined : place,
      to === undefined ? undefined : end,
      // At most one lower and one upper bound. With two bounds on one side, the planner would use only one of them for
      // the index, and read all rows that the other bound excludes.
      from === undefined && to === undefined ? scope.all : undefined,
      from !== undefined && to === undefined ? scope[direction] : undefined,
      from === undefined && to !== undefined ? scope[older ? 'newer' : 'older'] : undefined,
      from !== undefined && to !== undefined ? scope.between : undefined,
    ];
    return and(...bounds, ...names.map((name) => source.filters[name](name === lead ? USE_INDEX : noIndex))) as SQL;
  }

  function reader(
    names: Name[],
    lead: Name | undefined,
    direction: Direction,
    values: Values,
  ): SliceReader<Row, Place> {
    const sorted = () => (direction === 'older' ? desc : asc)(source.order);
    const shape = (from: unknown, to: unknown) =>
      `${direction} ${from !== undefined} ${to !== undefined} ${lead} ${names.join()}`;
    return {
      async endOfSlice(from, size) {
        const leading = names.filter((name) => name === lead);
        const statement = ends(shape(from, undefined), () =>
          (large as LargeList<Name>).places(where(leading, lead, direction, from, undefined), sorted()),
        );
        return (await statement.get({ ...values, place: from, offset: size - 1 }))?.place;
      },
      rows(from, to, limit) {
        const prepare = () => source.select(where(names, lead, direction, from, to), sorted());
        return selects(shape(from, to), prepare).all({ ...values, place: from, end: to, limit });
      },
      async count(from, to, limit) {
        const statement = counts(shape(from, to), () => source.count(where(names, lead, direction, from, to)));
        return (await statement.get({ ...values, place: from, end: to, limit }))?.total ?? 0;
      },
    };
  }

  async function leadOf(names: Name[], values: Values): Promise<Name | undefined> {
    return large && names.length > 0 ? await large.lead(names, values) : names[0];
  }

  function rows(names: Name[], lead: Name | undefined, direction: Direction, values: Values) {
    const read = reader(names, lead, direction, values);
    // Whether the index of the leading filter returns exactly the matching rows.
    const isServed = !large || names.every((name) => name === lead);
    return (place: Place | undefined, limit: number): Promise<Row[]> =>
      isServed ? read.rows(place, undefined, limit) : rowsInSlices(read, large.pacing, place, limit);
  }

  async function total(
    names: Name[],
    lead: Name | undefined,
    values: Values,
    counted = large?.pacing.limits.counted ?? Number.POSITIVE_INFINITY,
  ): Promise<Total> {
    const kept = await source.keptTotal?.(names, values);
    if (kept !== undefined) return { total: kept, totalIsExact: true };
    const read = reader(names, lead, 'older', values);
    if (!large) return { total: await read.count(undefined, undefined, unlimited), totalIsExact: true };
    if (names.some((name) => name !== lead)) return countInSlices(read, large.pacing, counted);
    const found = await read.count(undefined, undefined, counted + 1);
    return { total: Math.min(found, counted), totalIsExact: found <= counted };
  }

  return {
    async page(environmentId, filters, request, options = {}) {
      const names = present(filters);
      const values: Values = { ...filters, ...options.values, environmentId };
      const lead = await leadOf(names, values);
      const older = rows(names, lead, 'older', values);
      return await readPage<Row, Place>(
        {
          newest: (limit) => older(undefined, limit),
          older,
          newer: rows(names, lead, 'newer', values),
          total: () => total(names, lead, values, options.counted),
          placeOf: source.placeOf,
          placeOfCursor: (id) => source.placeOfCursor(environmentId, id),
        },
        request,
      );
    },
    async rows(environmentId, filters) {
      const names = present(filters);
      const values: Values = { ...filters, environmentId };
      const lead = await leadOf(names, values);
      const read = { older: rows(names, lead, 'older', values), newer: rows(names, lead, 'newer', values) };
      return (direction, place, limit) => read[direction](place, limit);
    },
    all(environmentId, filters) {
      const names = present(filters);
      return reader(names, names[0], 'older', { ...filters, environmentId }).rows(undefined, undefined, unlimited);
    },
    async total(environmentId, filters) {
      const names = present(filters);
      const values: Values = { ...filters, environmentId };
      const kept = await source.keptTotal?.(names, values);
      return kept ?? (await reader(names, names[0], 'older', values).count(undefined, undefined, unlimited));
    },
  };
}
