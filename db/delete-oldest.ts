import { type AnyColumn, type AnyTable, type SQL, sql } from './drizzle.ts';
import type { Db } from './statements.ts';

/**
 * Prepares the deletion of the rows that match `where` and are first by `order`, with the placeholder `limit`. SQL has
 * no limit for deletions, so the rows are selected by their key, which identifies a row in all environments.
 */
export function deleteOldest(db: Db, table: AnyTable, key: AnyColumn, where: SQL | undefined, order: AnyColumn) {
  const oldest = db.select({ key }).from(table).where(where).orderBy(order).limit(sql.placeholder('limit'));
  return db.delete(table).where(sql`${key} in ${oldest}`).prepare();
}
