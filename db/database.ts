import { drizzle } from './drizzle.ts';
import { lean } from './lean.ts';
import type { Client } from './sqlite/open.ts';

/** Typed queries over one connection. */
export type Db = ReturnType<typeof createDb>;

export function createDb(client: Client) {
  return drizzle({ client });
}

/**
 * A prepared statement, made at the first call and kept. Preparing one costs a hundred times its execution, so each is prepared once
 * per connection, and only if it is used.
 */
export function once<S extends object>(prepare: () => S): () => S {
  let prepared: S | undefined;
  return () => {
    prepared ??= lean(prepare());
    return prepared;
  };
}

/** Like {@link once}, for statements whose text depends on which filters or columns a call names. */
export function oncePerShape<S extends object>(): (shape: string, prepare: () => S) => S {
  const prepared = new Map<string, S>();
  return (shape, prepare) => {
    let statement = prepared.get(shape);
    if (statement === undefined) {
      statement = lean(prepare());
      prepared.set(shape, statement);
    }
    return statement;
  };
}
