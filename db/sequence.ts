import { type Db, once } from './database.ts';
import { and, eq, type SQL, type SQLWrapper, sql } from './drizzle.ts';
import { counters, environments } from './schema.ts';

type CounterName = 'accounts' | 'executions';

const ENVIRONMENT = sql.placeholder('environmentId');
/** Bit 40 and up of a `seq` are the ordinal of its environment: see 0001_core.sql. */
const LOW = sql`(select ${environments.ordinal} << 40 from ${environments} where ${environments.id} = ${ENVIRONMENT})`;
const HIGH = sql`(select (${environments.ordinal} + 1) << 40 from ${environments} where ${environments.id} = ${ENVIRONMENT})`;

/** Keeps a statement over a sequenced table within the environment of its placeholder `environmentId`. */
export function environmentRange(seq: SQLWrapper): { all: SQL; older: SQL; newer: SQL } {
  return {
    all: sql`${seq} > ${LOW} and ${seq} < ${HIGH}`,
    // The place itself lies within the environment, so one bound remains.
    older: sql`${seq} > ${LOW}`,
    newer: sql`${seq} < ${HIGH}`,
  };
}

/** The rows of the environment that follow a `seq` in the order of creation, for reading a table in pieces. */
export function environmentRangeAfter(seq: SQLWrapper, after: SQLWrapper): SQL {
  // One lower bound, not two: the planner would use one of them and read all that the other one excludes.
  return sql`${seq} > max(${LOW}, ${after}) and ${seq} < ${HIGH}`;
}

/** The `seq` of the next row of the environment; the table's trigger moves the counter on. Null for an unknown environment. */
export function nextSeq(name: CounterName): SQL<number> {
  return sql<number>`(select ${counters.lastSeq} + 1 from ${counters}
    where ${counters.environmentId} = ${ENVIRONMENT} and ${counters.name} = ${sql.raw(`'${name}'`)})`;
}

/** Reads how many rows an environment has in a sequenced table: the total that is kept where no filter is given. */
export function createTotal(db: Db, name: CounterName) {
  const statement = once(() =>
    db
      .select({ total: counters.total })
      .from(counters)
      .where(and(eq(counters.environmentId, ENVIRONMENT), eq(counters.name, name)))
      .prepare(),
  );
  return (filters: string[], values: Record<string, unknown>): number | undefined =>
    filters.length === 0 ? (statement().get(values)?.total ?? 0) : undefined;
}
