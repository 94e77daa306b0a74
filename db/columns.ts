import { type AnyColumn, customType, type IndexColumn, integer, sql, text } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';

/**
 * A JSON column that is stored as text. A null that is bound to a placeholder is stored as SQL NULL. Drizzle's JSON
 * mode would store it as the text `null`.
 */
export function json<T>(name: string) {
  return customType<{ data: T; driverData: string | null }>({
    dataType: () => 'text',
    toDriver: (value) => (value === null || value === undefined ? null : JSON.stringify(value)),
    fromDriver: (value) => JSON.parse(value as string) as T,
  })(name);
}

/**
 * A BLOB column that stores values of different lengths in `size` bytes: a byte with the length, the value, and zeros.
 * All stored values have the same size, so that a new value can be written over the old one and leaves no copy of it.
 *
 * @param size in bytes; a value must be shorter, and have at most 255 bytes
 */
export function paddedBytes(name: string, size: number) {
  return customType<{ data: Buffer; driverData: Buffer }>({
    dataType: () => 'blob',
    toDriver(bytes) {
      if (bytes.length >= size || bytes.length > 255)
        throw new RangeError(`${name} must have fewer than ${size} bytes`);
      const padded = Buffer.alloc(size);
      padded[0] = bytes.length;
      bytes.copy(padded, 1);
      return padded;
    },
    fromDriver: (padded) => padded.subarray(1, 1 + (padded[0] ?? 0)),
  })(name);
}

export function boolean(name: string) {
  return integer(name, { mode: 'boolean' });
}

/** The environment column, which every query must filter by. */
export function environment() {
  return text('environment_id').$type<EnvironmentId>();
}

/**
 * Returns the target of an `on conflict` clause. Drizzle would write columns with their table name, which not every
 * dialect accepts there.
 */
export function conflictOf(...columns: AnyColumn[]): IndexColumn {
  const names = columns.map(({ name }) => sql.identifier(name));
  return sql.join(names, sql`, `) as unknown as IndexColumn;
}
