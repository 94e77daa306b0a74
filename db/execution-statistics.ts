import { and, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { StatisticFilters, StatisticGroup, StatisticRow } from './rows/execution-statistics.ts';
import { executionStatistics } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface ExecutionStatisticReads {
  /**
   * Returns the counts of each group by status and duration. The order is not defined. A busy month is read in slices, with other work in
   * between.
   */
  grouped(environmentId: EnvironmentId, group: StatisticGroup, filters: StatisticFilters): Promise<StatisticRow[]>;
}

export interface ExecutionStatisticWrites {
  /** Deletes the counts of the oldest hour before an hour. @returns how many rows */
  sweep(environmentId: EnvironmentId, beforeHour: number): Promise<number>;
}

export type ExecutionStatisticRepository = ExecutionStatisticReads & ExecutionStatisticWrites;

const t = executionStatistics;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const GROUPS: Record<StatisticGroup, SQL<string>> = {
  hour: sql<string>`cast(${t.hour} as text)`,
  tool_name: sql<string>`${t.toolName}`,
  connector: sql<string>`${t.connector}`,
  outcome: sql<string>`${t.errorKind}`,
};
const FILTERS = {
  toolName: eq(t.toolName, sql.placeholder('toolName')),
  connector: eq(t.connector, sql.placeholder('connector')),
};

const withinHours = sql`${t.hour} >= ${sql.placeholder('fromHour')} and ${t.hour} < ${sql.placeholder('beforeHour')}`;

export function createExecutionStatisticRepository(
  { db, oncePerShape, once }: Statements,
  { limits, yieldToEventLoop }: Pacing,
): ExecutionStatisticRepository {
  const grouped = oncePerShape<{ all(values: Record<string, unknown>): Promise<StatisticRow[]> }>();
  const hourAfterSlice = once(() =>
    db
      .select({ hour: t.hour })
      .from(t)
      .where(and(withinEnvironment, withinHours))
      .orderBy(t.hour)
      .limit(1)
      .offset(sql.placeholder('offset'))
      .prepare(),
  );
  const sweep = once(() => {
    const oldest = db
      .select({ hour: sql<number>`min(${t.hour})` })
      .from(t)
      .where(and(withinEnvironment, sql`${t.hour} < ${sql.placeholder('beforeHour')}`));
    return db
      .delete(t)
      .where(and(withinEnvironment, sql`${t.hour} = ${oldest}`))
      .prepare();
  });

  return {
    async grouped(environmentId, group, { toolName, connector, fromHour, beforeHour }) {
      const given = { ...(toolName !== undefined && { toolName }), ...(connector !== undefined && { connector }) };
      const names = Object.keys(given) as (keyof typeof FILTERS)[];
      const statement = grouped([group, ...names].join(), () => {
        const by = GROUPS[group];
        return db
          .select({ group: by, status: t.status, upToMs: t.upToMs, total: sql<number>`sum(${t.total})` })
          .from(t)
          .where(and(withinEnvironment, withinHours, ...names.map((name) => FILTERS[name])))
          .groupBy(by, t.status, t.upToMs)
          .prepare() as never;
      });
      const merged = new Map<string, StatisticRow>();
      for (let from = fromHour; from < beforeHour; ) {
        const rest = { environmentId, fromHour: from, beforeHour };
        const after = (await hourAfterSlice().get({ ...rest, offset: limits.slice }))?.hour ?? beforeHour;
        // One hour is read by one statement, even if it has more rows than a slice.
        const to = Math.max(after, from + 1);
        addTo(merged, await statement.all({ ...rest, ...given, beforeHour: to }));
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

function addTo(merged: Map<string, StatisticRow>, rows: readonly StatisticRow[]): void {
  for (const row of rows) {
    const key = `${row.status} ${row.upToMs} ${row.group}`;
    const known = merged.get(key);
    if (known) known.total += Number(row.total);
    else merged.set(key, { ...row, total: Number(row.total) });
  }
}
