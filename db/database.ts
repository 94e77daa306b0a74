import type { Column } from './drizzle.ts';
import { drizzle } from './drizzle.ts';
import type { Client } from './open.ts';

/** Typed queries over one connection. */
export type Db = ReturnType<typeof createDb>;

export function createDb(client: Client) {
  return drizzle({ client });
}

/**
 * A value made at the first call and kept. Preparing a statement costs a hundred times its execution, so each is prepared once per
 * connection, and only if it is used.
 */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Like {@link once}, for statements whose text depends on which filters or columns a call names. */
export function oncePerShape<T>(): (shape: string, make: () => T) => T {
  const made = new Map<string, T>();
  return (shape, make) => {
    let value = made.get(shape);
    if (value === undefined) {
      value = make();
      made.set(shape, value);
    }
    return value;
  };
}

/**
 * The rows of a prepared selection of columns of one table, mapped here. On a page of 20 rows the builder's own mapping, made for
 * joins and nested selections, takes longer than the query.
 *
 * @param columns the selection the statement was built with: the same object, since the order of its keys is the order of the values
 */
export function plainRows<C extends Record<string, Column>>(
  columns: C,
  statement: { values(values: Record<string, unknown>): unknown[][] },
) {
  type Row = { [K in keyof C]: C[K]['_']['notNull'] extends true ? C[K]['_']['data'] : C[K]['_']['data'] | null };
  const fields = Object.entries(columns);
  const toRow = (values: unknown[]): Row => {
    const row: Record<string, unknown> = {};
    let place = 0;
    for (const [name, column] of fields) {
      const value = values[place++];
      row[name] = value === null ? null : column.mapFromDriverValue(value);
    }
    return row as Row;
  };
  return { all: (values: Record<string, unknown>): Row[] => statement.values(values).map(toRow) };
}
