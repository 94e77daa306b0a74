import { type Db, oncePerShape } from './database.ts';
import { and, count, eq, type SQL, sql } from './drizzle.ts';
import { executionCounts, executions } from './schema.ts';
import { createTotal } from './sequence.ts';

/** The filters whose totals are kept. */
export type CountedFilter = 'toolName' | 'connector' | 'status';

type Values = Record<string, unknown>;
type Statement = { get(values: Values): { total: number } | undefined };

const ENVIRONMENT = sql.placeholder('environmentId');
const COUNTED: Record<CountedFilter, { ended: SQL; underWay: SQL }> = {
  toolName: its('toolName'),
  connector: its('connector'),
  status: its('status'),
};

function its(name: CountedFilter): { ended: SQL; underWay: SQL } {
  return {
    ended: eq(executionCounts[name], sql.placeholder(name)),
    underWay: eq(executions[name], sql.placeholder(name)),
  };
}

export function isCounted(name: string): name is CountedFilter {
  return Object.hasOwn(COUNTED, name);
}

/**
 * Reads exact totals: those that have ended are kept in `execution_counts`, those under way are few.
 *
 * @returns undefined for filters whose totals are not kept
 */
export function createExecutionTotals(db: Db): (names: readonly string[], values: Values) => number | undefined {
  const unfiltered = createTotal(db, 'executions');
  const sums = oncePerShape<Statement>();
  const counts = oncePerShape<Statement>();
  const ended = (names: readonly CountedFilter[], values: Values) =>
    sums(names.join(), () =>
      db
        .select({ total: sql<number>`coalesce(sum(${executionCounts.total}), 0)` })
        .from(executionCounts)
        .where(and(eq(executionCounts.environmentId, ENVIRONMENT), ...names.map((name) => COUNTED[name].ended)))
        .prepare(),
    ).get(values)?.total ?? 0;
  const underWay = (names: readonly CountedFilter[], values: Values) =>
    counts(names.join(), () =>
      db
        .select({ total: count() })
        .from(executions)
        .where(
          and(
            eq(executions.environmentId, ENVIRONMENT),
            // Literal, so that the partial index over what is under way serves.
            sql`${executions.status} = 'STARTED'`,
            ...names.map((name) => COUNTED[name].underWay),
          ),
        )
        .prepare(),
    ).get(values)?.total ?? 0;

  return (names, values) => {
    if (names.length === 0) return unfiltered([], values);
    if (!names.every(isCounted)) return undefined;
    const { status } = values;
    if (status === 'STARTED')
      return underWay(
        names.filter((name) => name !== 'status'),
        values,
      );
    return status === undefined ? ended(names, values) + underWay(names, values) : ended(names, values);
  };
}
