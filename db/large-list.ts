import { count, type SQL, type SQLWrapper, sql } from './drizzle.ts';
import type { accounts, auditLog, events, executions, jobs, oauthGrants, webhookDeliveries } from './schema.ts';
import type { Db } from './statements.ts';

type LargeTable =
  | typeof accounts
  | typeof auditLog
  | typeof events
  | typeof executions
  | typeof jobs
  | typeof oauthGrants
  | typeof webhookDeliveries;

/** Prepares a count of at most `limit` rows. */
export function countUpTo(db: Db, table: LargeTable, where: SQL) {
  const found = db
    .select({ one: sql<number>`1`.as('one') })
    .from(table)
    .where(where)
    .limit(sql.placeholder('limit'))
    .as('found');
  return db.select({ total: count() }).from(found).prepare();
}

/**
 * Prepares a statement that skips `offset` of the matching rows, and returns the position of the next row as `place`.
 */
export function placesOf<K extends string | number>(
  db: Db,
  table: LargeTable,
  place: SQLWrapper,
  where: SQL,
  order: SQL,
) {
  return db
    .select({ place: sql<K>`${place}` })
    .from(table)
    .where(where)
    .orderBy(order)
    .limit(1)
    .offset(sql.placeholder('offset'))
    .prepare();
}

/**
 * Returns the filter that matches the fewest rows, and its total. Pass only filters whose total is stored. `totalOf`
 * returns 0 for any other filter, so that filter would be chosen.
 */
export async function mostSelective<Name>(names: readonly Name[], totalOf: (name: Name) => Promise<number>) {
  let rarest: { name: Name; total: number } | undefined;
  for (const name of names) {
    const total = await totalOf(name);
    if (rarest === undefined || total < rarest.total) rarest = { name, total };
  }
  return rarest;
}
