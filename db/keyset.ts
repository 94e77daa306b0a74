import { oncePerShape } from './database.ts';
import { and, asc, desc, type SQL, type SQLWrapper, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { type Page, type PageRequest, readPage } from './page.ts';

type Values = Record<string, unknown> & { environmentId?: EnvironmentId };

/** Turns a placeholder into a condition; `steer` goes before the column where another filter's index is to be used. */
export type Filter = (steer: SQL) => SQL;

/** A list that is read by keyset: newest first, both ways, with filters. Every statement has the placeholder `environmentId`. */
export interface KeysetSource<Row, Name extends string> {
  /** The column that orders the list. */
  order: SQLWrapper;
  /** What keeps a statement within its environment: the whole of it, what is older than `:place`, what is newer. */
  scope: { all: SQL; older: SQL; newer: SQL };
  /** By name of filter and of its placeholder, the most selective one first: its index is the one that is used. */
  filters: Record<Name, Filter>;
  /** Prepares a selection of rows with the placeholder `limit`. */
  select(where: SQL, order: SQL): { all(values: Values): Row[] };
  count(where: SQL): { get(values: Values): { total: number } | undefined };
  /** The total of what these filters leave, where it is kept; undefined where it must be counted. */
  keptTotal?(names: Name[], values: Values): number | undefined;
  placeOf(row: Row): string | number;
  placeOfCursor(environmentId: EnvironmentId, id: string): string | number | undefined;
}

export interface KeysetList<Row, Name extends string> {
  page(environmentId: EnvironmentId, filters: Filters<Name>, request: PageRequest): Page<Row>;
  /** Without pages, newest first. */
  all(environmentId: EnvironmentId, filters: Filters<Name>): Row[];
  total(environmentId: EnvironmentId, filters: Filters<Name>): number;
}

/** Values by filter; an absent or undefined one does not filter. */
export type Filters<Name extends string> = { [N in Name]?: unknown };

const NO_STEER = sql.raw('');
/** A unary plus keeps a column's index out of the plan: the planner has no statistics, and the order of the filters knows better. */
const STEER = sql.raw('+');
const UNLIMITED = -1;

/** Prepares each statement of a list at its first use, per set of filters. */
export function createKeysetList<Row, Name extends string>(source: KeysetSource<Row, Name>): KeysetList<Row, Name> {
  const selects = oncePerShape<{ all(values: Values): Row[] }>();
  const counts = oncePerShape<{ get(values: Values): { total: number } | undefined }>();
  const order = Object.keys(source.filters) as Name[];

  function present(filters: Filters<Name>): Name[] {
    return order.filter((name) => filters[name] !== undefined);
  }

  function where(names: Name[], ...scope: SQL[]): SQL {
    const conditions = names.map((name, place) => source.filters[name](place === 0 ? NO_STEER : STEER));
    return and(...scope, ...conditions) as SQL;
  }

  function rows(names: Name[], direction: 'newest' | 'older' | 'newer') {
    return selects(`${direction} ${names.join()}`, () => {
      if (direction === 'newest') return source.select(where(names, source.scope.all), desc(source.order));
      const place = sql.placeholder('place');
      if (direction === 'older') {
        return source.select(where(names, source.scope.older, sql`${source.order} < ${place}`), desc(source.order));
      }
      return source.select(where(names, source.scope.newer, sql`${source.order} > ${place}`), asc(source.order));
    });
  }

  function total(names: Name[], values: Values): number {
    const kept = source.keptTotal?.(names, values);
    if (kept !== undefined) return kept;
    const statement = counts(names.join(), () => source.count(where(names, source.scope.all)));
    return statement.get(values)?.total ?? 0;
  }

  return {
    page(environmentId, filters, request) {
      const names = present(filters);
      const values: Values = { ...filters, environmentId };
      return readPage<Row, string | number>(
        {
          newest: (limit) => rows(names, 'newest').all({ ...values, limit }),
          older: (place, limit) => rows(names, 'older').all({ ...values, place, limit }),
          newer: (place, limit) => rows(names, 'newer').all({ ...values, place, limit }),
          total: () => total(names, values),
          placeOf: source.placeOf,
          placeOfCursor: (id) => source.placeOfCursor(environmentId, id),
        },
        request,
      );
    },
    all(environmentId, filters) {
      return rows(present(filters), 'newest').all({ ...filters, environmentId, limit: UNLIMITED });
    },
    total(environmentId, filters) {
      return total(present(filters), { ...filters, environmentId });
    },
  };
}
