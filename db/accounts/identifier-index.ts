import { LIST } from '../../core/budgets.ts';
import { and, desc, eq, type SQL, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { AccountSummaryRow } from '../rows/accounts.ts';
import { accounts } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { SUMMARY_COLUMNS } from './columns.ts';

/** Finds accounts by a part of their identifier. All numbers are values of the column `seq`, newest first. */
export interface IdentifierIndex {
  /**
   * Returns the newest accounts whose identifier contains the case-folded text. It returns at most one more than a
   * search counts (`LIST.countedBySearch`), which shows the caller that there are more.
   */
  newest(environmentId: EnvironmentId, text: string): Promise<number[]>;
  /** Returns those of the given accounts that belong to a connection. */
  within(seqs: readonly number[], connectionId: string): Promise<number[]>;
  /** Returns those of the given accounts that belong to none of these connections. */
  outside(seqs: readonly number[], connectionIds: readonly string[]): Promise<number[]>;
  rows(environmentId: EnvironmentId, seqs: readonly number[]): Promise<AccountSummaryRow[]>;
}

export function createIdentifierIndex({ db, once, dialect }: Statements): IdentifierIndex {
  const { search, noIndex, isIn } = dialect;
  const newest = once(() =>
    db
      .select({ seq: sql<number>`${search.seq}` })
      .from(search.table)
      .where(search.matches('pattern'))
      .orderBy(desc(search.seq))
      .limit(LIST.countedBySearch + 1)
      .prepare(),
  );
  const some = (condition: SQL) =>
    once(() =>
      db
        .select({ seq: accounts.seq })
        .from(accounts)
        .where(and(isIn(accounts.seq, 'seqs'), condition))
        .orderBy(desc(accounts.seq))
        .prepare(),
    );
  const ofConnections = isIn(sql`${noIndex}${accounts.connectionId}`, 'connectionIds');
  const within = some(ofConnections);
  const outside = some(sql`not (${ofConnections})`);
  const row = once(() =>
    db
      .select(SUMMARY_COLUMNS)
      .from(accounts)
      .where(
        and(eq(accounts.seq, sql.placeholder('seq')), eq(accounts.environmentId, sql.placeholder('environmentId'))),
      )
      .prepare(),
  );
  const seqsOf = (rows: { seq: number }[]) => rows.map(({ seq }) => seq);
  const values = (seqs: readonly number[], connectionIds: readonly string[]) => ({
    seqs: dialect.list(seqs),
    connectionIds: dialect.list(connectionIds),
  });

  return {
    async newest(environmentId, text) {
      return seqsOf(await newest().all({ environmentId, pattern: search.pattern(text) }));
    },
    async within(seqs, connectionId) {
      return seqsOf(await within().all(values(seqs, [connectionId])));
    },
    async outside(seqs, connectionIds) {
      return connectionIds.length === 0 ? [...seqs] : seqsOf(await outside().all(values(seqs, connectionIds)));
    },
    async rows(environmentId, seqs) {
      const rows: AccountSummaryRow[] = [];
      for (const seq of seqs) rows.push(...(await row().all({ environmentId, seq })));
      return rows;
    },
  };
}
