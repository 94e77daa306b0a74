import { LIST } from '../../core/budgets.ts';
import { type Db, once } from '../database.ts';
import { and, desc, eq, type SQL, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { AccountSummaryRow } from '../rows/accounts.ts';
import { accounts, accountsSearch } from '../schema.ts';
import { environmentRange } from '../sequence.ts';
import { SUMMARY_COLUMNS } from './columns.ts';
import { phraseOf } from './fold.ts';

/** Finds accounts by a part of their identifier. All numbers are the `seq` of accounts, newest first. */
export interface IdentifierIndex {
  /** The newest matches of a folded text, one more than are counted. */
  newest(environmentId: EnvironmentId, text: string): number[];
  /** Those of some accounts that belong to a connection. */
  within(seqs: readonly number[], connectionId: string): number[];
  /** Those of some accounts that belong to none of these connections. */
  outside(seqs: readonly number[], connectionIds: readonly string[]): number[];
  rows(environmentId: EnvironmentId, seqs: readonly number[]): AccountSummaryRow[];
}

const SEQS = sql`${accounts.seq} in (select value from json_each(${sql.placeholder('seqs')}))`;
const CONNECTIONS = sql`(select value from json_each(${sql.placeholder('connectionIds')}))`;

export function createIdentifierIndex(db: Db): IdentifierIndex {
  const newest = once(() =>
    db
      .select({ seq: accountsSearch.rowid })
      .from(accountsSearch)
      .where(and(sql`${accountsSearch} match ${sql.placeholder('match')}`, environmentRange(accountsSearch.rowid).all))
      .orderBy(desc(accountsSearch.rowid))
      .limit(LIST.countedBySearch + 1)
      .prepare(),
  );
  const some = (condition: SQL) =>
    once(() =>
      db.select({ seq: accounts.seq }).from(accounts).where(and(SEQS, condition)).orderBy(desc(accounts.seq)).prepare(),
    );
  const within = some(sql`+${accounts.connectionId} in ${CONNECTIONS}`);
  const outside = some(sql`+${accounts.connectionId} not in ${CONNECTIONS}`);
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
    seqs: JSON.stringify(seqs),
    connectionIds: JSON.stringify(connectionIds),
  });

  return {
    newest: (environmentId, text) => seqsOf(newest().all({ environmentId, match: phraseOf(text) })),
    within: (seqs, connectionId) => seqsOf(within().all(values(seqs, [connectionId]))),
    outside: (seqs, connectionIds) =>
      connectionIds.length === 0 ? [...seqs] : seqsOf(outside().all(values(seqs, connectionIds))),
    rows: (environmentId, seqs) => seqs.flatMap((seq) => row().get({ environmentId, seq }) ?? []),
  };
}
