import { and, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createHourlyCounts } from './hourly-counts.ts';
import type {
  CountedRefresh,
  RefreshStatisticFilters,
  RefreshStatisticGroup,
  RefreshStatisticRow,
} from './rows/refresh-statistics.ts';
import { refreshStatistics } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface RefreshStatisticReads {
  /** Returns the counts of each group by outcome. The order is not defined. */
  grouped(
    environmentId: EnvironmentId,
    group: RefreshStatisticGroup,
    filters: RefreshStatisticFilters,
  ): Promise<RefreshStatisticRow[]>;
}

export interface RefreshStatisticWrites {
  /** Counts a refresh. */
  count(environmentId: EnvironmentId, refresh: CountedRefresh): Promise<void>;
  /** Deletes the counts of the oldest hour that is before `beforeHour`. @returns how many rows */
  sweep(environmentId: EnvironmentId, beforeHour: number): Promise<number>;
}

export type RefreshStatisticRepository = RefreshStatisticReads & RefreshStatisticWrites;

const t = refreshStatistics;
const GROUPS: Record<RefreshStatisticGroup, SQL<string>> = {
  hour: sql<string>`cast(${t.hour} as text)`,
  connector: sql<string>`${t.connector}`,
  outcome: sql<string>`${t.errorKind}`,
};
const ofConnector = eq(t.connector, sql.placeholder('connector'));

export function createRefreshStatisticRepository(statements: Statements, pacing: Pacing): RefreshStatisticRepository {
  const { db, once, oncePerShape } = statements;
  const { within, sums, sweep } = createHourlyCounts(statements, pacing, t);
  const grouped = oncePerShape<{ all(values: Record<string, unknown>): Promise<RefreshStatisticRow[]> }>();
  const count = once(() =>
    db
      .insert(t)
      .values({
        environmentId: sql.placeholder('environmentId'),
        hour: sql.placeholder('hour'),
        connector: sql.placeholder('connector'),
        outcome: sql.placeholder('outcome'),
        errorKind: sql.placeholder('errorKind'),
        total: 1,
      })
      .prepare(),
  );

  return {
    async grouped(environmentId, group, { connector, ...hours }) {
      const by = GROUPS[group];
      const filter = connector === undefined ? undefined : ofConnector;
      const statement = grouped(`${group},${connector === undefined}`, () => {
        const columns = { group: by, outcome: t.outcome, total: sql<number>`sum(${t.total})` };
        return db.select(columns).from(t).where(and(within, filter)).groupBy(by, t.outcome).prepare() as never;
      });
      return sums(
        environmentId,
        hours,
        (slice) => statement.all({ ...slice, ...(connector !== undefined && { connector }) }),
        (row) => `${row.outcome} ${row.group}`,
      );
    },
    async count(environmentId, refresh) {
      await count().run({ ...refresh, environmentId });
    },
    sweep,
  };
}
