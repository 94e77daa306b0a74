import { drizzle } from 'drizzle-orm/better-sqlite3';
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
