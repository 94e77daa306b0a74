import type { Dialect, SequencedTable } from './dialect.ts';
import { and, eq, type SQL, type SQLWrapper, sql } from './drizzle.ts';
import type { Scope } from './keyset.ts';
import { counters, environments } from './schema.ts';
import type { Statements } from './statements.ts';

const ENVIRONMENT = sql.placeholder('environmentId');
/**
 * The exclusive bounds of the `seq` of an environment. From bit 40 on, a `seq` contains the number of its environment.
 */
const LOW = sql`(select ${environments.ordinal} << 40 from ${environments} where ${environments.id} = ${ENVIRONMENT})`;
const HIGH = sql`(select (${environments.ordinal} + 1) << 40 from ${environments} where ${environments.id} = ${ENVIRONMENT})`;

/**
 * Returns the conditions that limit a statement on a table with `seq` numbers to the environment of its placeholder
 * `environmentId`.
 */
export function environmentRange(seq: SQLWrapper): Scope {
  return {
    all: sql`${seq} > ${LOW} and ${seq} < ${HIGH}`,
    // The cursor's own position is within the environment, so one bound suffices.
    older: sql`${seq} > ${LOW}`,
    newer: sql`${seq} < ${HIGH}`,
    between: undefined,
  };
}

/**
 * Returns the condition for the rows of the environment after a `seq` in the order of creation, for reading a table in
 * batches.
 */
export function environmentRangeAfter({ greatest }: Dialect, seq: SQLWrapper, after: SQLWrapper): SQL {
  // One lower bound, not two: the planner would use one of them and read all rows that the other one excludes.
  return sql`${seq} > ${greatest(LOW, after)} and ${seq} < ${HIGH}`;
}

/**
 * Creates the function that reads from a maintained counter how many rows of an environment a table has. The function
 * returns undefined if filters are given.
 */
export function createTotal({ db, once }: Statements, table: SequencedTable) {
  const statement = once(() =>
    db
      .select({ total: sql<number>`coalesce(sum(${counters.total}), 0)` })
      .from(counters)
      .where(and(eq(counters.environmentId, ENVIRONMENT), eq(counters.name, table)))
      .prepare(),
  );
  return async (filters: string[], values: Record<string, unknown>): Promise<number | undefined> =>
    filters.length === 0 ? ((await statement().get(values))?.total ?? 0) : undefined;
}
