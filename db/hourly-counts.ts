import { and, type Column, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { Hours } from './rows/hours.ts';
import type { executionStatistics, refreshStatistics } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface HourlyCounts {
  /** The condition for the rows of a period, with the placeholders `environmentId`, `fromHour` and `beforeHour`. */
  within: SQL;
  /**
   * Reads the counts of a period in slices of hours, and adds up those with the same key. Other work can run on the
   * event loop between two slices. The order of the result is not defined.
   */
  sums<Row extends { total: number }>(
    environmentId: EnvironmentId,
    hours: Hours,
    read: (slice: Hours & { environmentId: EnvironmentId }) => Promise<Row[]>,
    keyOf: (row: Row) => string,
  ): Promise<Row[]>;
  /** Deletes the counts of the oldest hour that is before `beforeHour`. @returns how many rows */
  sweep(environmentId: EnvironmentId, beforeHour: number): Promise<number>;
}

/** Creates the queries that all tables with counts by environment and hour use. */
export function createHourlyCounts(
  { db, once }: Statements,
  { limits, yieldToEventLoop }: Pacing,
  t: typeof executionStatistics | typeof refreshStatistics,
): HourlyCounts {
  const hour: Column = t.hour;
  const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
  const within = and(
    withinEnvironment,
    sql`${hour} >= ${sql.placeholder('fromHour')} and ${hour} < ${sql.placeholder('beforeHour')}`,
  ) as SQL;
  const hourAfterSlice = once(() =>
    db
      .select({ hour: t.hour })
      .from(t)
      .where(within)
      .orderBy(t.hour)
      .limit(1)
      .offset(sql.placeholder('offset'))
      .prepare(),
  );
  const sweep = once(() => {
    const oldest = db
      .select({ hour: sql<number>`min(${hour})` })
      .from(t)
      .where(and(withinEnvironment, sql`${hour} < ${sql.placeholder('beforeHour')}`));
    return db
      .delete(t)
      .where(and(withinEnvironment, sql`${hour} = ${oldest}`))
      .prepare();
  });

  return {
    within,
    async sums<Row extends { total: number }>(
      environmentId: EnvironmentId,
      { fromHour, beforeHour }: Hours,
      read: (slice: Hours & { environmentId: EnvironmentId }) => Promise<Row[]>,
      keyOf: (row: Row) => string,
    ) {
      const merged = new Map<string, Row>();
      for (let from = fromHour; from < beforeHour; ) {
        const rest = { environmentId, fromHour: from, beforeHour };
        const after = (await hourAfterSlice().get({ ...rest, offset: limits.slice }))?.hour ?? beforeHour;
        // One hour is read by one statement, even if it has more rows than a slice.
        const to = Math.max(after, from + 1);
        for (const row of await read({ ...rest, beforeHour: to })) {
          const total = Number(row.total) + (merged.get(keyOf(row))?.total ?? 0);
          merged.set(keyOf(row), { ...row, total });
        }
        from = to;
        await yieldToEventLoop();
      }
      return [...merged.values()];
    },
    async sweep(environmentId, beforeHour) {
      return (await sweep().run({ environmentId, beforeHour })).changes;
    },
  };
}
