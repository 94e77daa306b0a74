import { and, count, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { executionCounts, executions } from './schema.ts';
import { createTotal } from './sequence.ts';
import type { Statements } from './statements.ts';

/** The filters whose totals are maintained, in the table `execution_counts`. */
export type CountedFilter = 'toolName' | 'connector' | 'status';

type Values = Record<string, unknown>;
type Sum = { get(values: Values): Promise<{ total: number } | undefined> };

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
 * Reads exact totals. Ended executions are counted in `execution_counts`; running ones are few and are counted by the
 * query.
 *
 * @returns undefined for filters whose totals are not maintained
 */
export function createExecutionTotals(
  statements: Statements,
): (names: readonly string[], values: Values) => Promise<number | undefined> {
  const { db, oncePerShape } = statements;
  const unfiltered = createTotal(statements, 'executions');
  const sums = oncePerShape<Sum>();
  const counts = oncePerShape<Sum>();
  async function ended(names: readonly CountedFilter[], values: Values): Promise<number> {
    const sum = sums(names.join(), () =>
      db
        .select({ total: sql<number>`coalesce(sum(${executionCounts.total}), 0)` })
        .from(executionCounts)
        .where(and(eq(executionCounts.environmentId, ENVIRONMENT), ...names.map((name) => COUNTED[name].ended)))
        .prepare(),
    );
    return (await sum.get(values))?.total ?? 0;
  }

  async function underWay(names: readonly CountedFilter[], values: Values): Promise<number> {
    const sum = counts(names.join(), () =>
      db
        .select({ total: count() })
        .from(executions)
        .where(
          and(
            eq(executions.environmentId, ENVIRONMENT),
            // A literal instead of a parameter, so that the database can use the partial index of running executions.
            sql`${executions.status} = 'STARTED'`,
            ...names.map((name) => COUNTED[name].underWay),
          ),
        )
        .prepare(),
    );
    return (await sum.get(values))?.total ?? 0;
  }

  return async (names, values) => {
    if (names.length === 0) return await unfiltered([], values);
    if (!names.every(isCounted)) return undefined;
    const { status } = values;
    const others = names.filter((name) => name !== 'status');
    if (status === 'STARTED') return await underWay(others, values);
    const total = await ended(names, values);
    return status === undefined ? total + (await underWay(names, values)) : total;
  };
}

/** How many executions of a tool succeeded. */
export interface ToolSuccesses {
  toolName: string;
  total: number;
}

/** Reads how often the tools of a connection succeeded, by its `key_id`. */
export function createSuccesses({
  db,
  once,
}: Statements): (environmentId: EnvironmentId, connector: string) => Promise<ToolSuccesses[]> {
  const t = executionCounts;
  const sums = once(() =>
    db
      .select({ toolName: t.toolName, total: sql<number>`sum(${t.total})` })
      .from(t)
      .where(and(eq(t.environmentId, ENVIRONMENT), COUNTED.connector.ended, eq(t.status, 'SUCCEEDED')))
      .groupBy(t.toolName)
      .orderBy(t.toolName)
      .prepare(),
  );
  return async (environmentId, connector) => {
    const rows = await sums().all({ environmentId, connector });
    return rows.map(({ toolName, total }) => ({ toolName, total: Number(total) }));
  };
}
