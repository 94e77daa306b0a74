import { and, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createHourlyCounts } from './hourly-counts.ts';
import type { StatisticFilters, StatisticGroup, StatisticRow } from './rows/execution-statistics.ts';
import { executionStatistics } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface ExecutionStatisticReads {
  /**
   * Returns the counts of each group by status and duration. The order is not defined. Long periods are read in slices,
   * so that other work can run on the event loop between two slices.
   */
  grouped(environmentId: EnvironmentId, group: StatisticGroup, filters: StatisticFilters): Promise<StatisticRow[]>;
}

export interface ExecutionStatisticWrites {
  /** Deletes the counts of the oldest hour that is before `beforeHour`. @returns how many rows */
  sweep(environmentId: EnvironmentId, beforeHour: number): Promise<number>;
}

export type ExecutionStatisticRepository = ExecutionStatisticReads & ExecutionStatisticWrites;

const t = executionStatistics;
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

export function createExecutionStatisticRepository(
  statements: Statements,
  pacing: Pacing,
): ExecutionStatisticRepository {
  const { db, oncePerShape } = statements;
  const { within, sums, sweep } = createHourlyCounts(statements, pacing, t);
  const grouped = oncePerShape<{ all(values: Record<string, unknown>): Promise<StatisticRow[]> }>();

  return {
    async grouped(environmentId, group, { toolName, connector, ...hours }) {
      const given = { ...(toolName !== undefined && { toolName }), ...(connector !== undefined && { connector }) };
      const names = Object.keys(given) as (keyof typeof FILTERS)[];
      const statement = grouped([group, ...names].join(), () => {
        const by = GROUPS[group];
        return db
          .select({ group: by, status: t.status, upToMs: t.upToMs, total: sql<number>`sum(${t.total})` })
          .from(t)
          .where(and(within, ...names.map((name) => FILTERS[name])))
          .groupBy(by, t.status, t.upToMs)
          .prepare() as never;
      });
      return sums(
        environmentId,
        hours,
        (slice) => statement.all({ ...slice, ...given }),
        (row) => `${row.status} ${row.upToMs} ${row.group}`,
      );
    },
    sweep,
  };
}
