import { and, eq, type SQL, sql } from '../drizzle.ts';
import type { AccountStatus } from '../rows/accounts.ts';
import { accountCounts, connections } from '../schema.ts';
import { createTotal } from '../sequence.ts';
import type { Statements } from '../statements.ts';

/** The filters whose totals are maintained, in the table `account_counts`. */
export type CountedFilter = 'connectionId' | 'connector' | 'provider' | 'status';

type Values = Record<string, unknown>;

/** The conditions that select totals in `account_counts`: by the connection, its key, its provider, or the status. */
const COUNTED: Record<CountedFilter, SQL> = {
  connectionId: eq(connections.id, sql.placeholder('connectionId')),
  connector: eq(connections.keyId, sql.placeholder('connector')),
  provider: eq(connections.providerKey, sql.placeholder('provider')),
  status: eq(accountCounts.status, sql.placeholder('status')),
};

export function isCounted(name: string): name is CountedFilter {
  return Object.hasOwn(COUNTED, name);
}

/** Counts the accounts of all environments by status. It reads a row for each connection and status. */
export function createStatusTotals({
  db,
  once,
}: Statements): () => Promise<{ status: AccountStatus; total: number }[]> {
  const total = sql<number>`coalesce(sum(${accountCounts.total}), 0)`;
  const statement = once(() =>
    db.select({ status: accountCounts.status, total }).from(accountCounts).groupBy(accountCounts.status).prepare(),
  );
  return () => statement().all();
}

/** Reads exact totals. @returns undefined for filters whose totals are not maintained */
export function createAccountTotals(
  statements: Statements,
): (names: readonly string[], values: Values) => Promise<number | undefined> {
  const { db, oncePerShape } = statements;
  const unfiltered = createTotal(statements, 'accounts');
  const sums = oncePerShape<{ get(values: Values): Promise<{ total: number } | undefined> }>();
  return async (names, values) => {
    if (names.length === 0) return await unfiltered([], values);
    if (!names.every(isCounted)) return undefined;
    const statement = sums(names.join(), () =>
      db
        .select({ total: sql<number>`coalesce(sum(${accountCounts.total}), 0)` })
        .from(connections)
        .innerJoin(accountCounts, eq(accountCounts.connectionId, connections.id))
        .where(
          and(eq(connections.environmentId, sql.placeholder('environmentId')), ...names.map((name) => COUNTED[name])),
        )
        .prepare(),
    );
    return (await statement.get(values))?.total ?? 0;
  };
}
