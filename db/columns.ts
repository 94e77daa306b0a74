import { type AnyColumn, customType, type IndexColumn, integer, sql, text } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';

/** A json column kept as text. Unlike the builder's own json mode it keeps null a null where the value is a placeholder. */
export function json<T>(name: string) {
  return customType<{ data: T; driverData: string | null }>({
    dataType: () => 'text',
    toDriver: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
    fromDriver: (value) => JSON.parse(value as string) as T,
  })(name);
}

export function boolean(name: string) {
  return integer(name, { mode: 'boolean' });
}

/** The column that no query leaves out. */
export function environment() {
  return text('environment_id').$type<EnvironmentId>();
}

/** The target of an `on conflict`. The builder names columns with their table, which not every dialect accepts there. */
export function conflictOf(...columns: AnyColumn[]): IndexColumn {
  const names = columns.map(({ name }) => sql.identifier(name));
  return sql.join(names, sql`, `) as unknown as IndexColumn;
}
