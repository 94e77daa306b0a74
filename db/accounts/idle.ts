import { and, asc, eq, type SQLWrapper, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { AccountRow, IdleAccounts } from '../rows/accounts.ts';
import { accounts } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { ACCOUNT_COLUMNS } from './columns.ts';

const BEFORE_ALL = { tokenExpiresAt: Number.MIN_SAFE_INTEGER, seq: 0 };

/**
 * Creates the function that lists idle accounts: those with the status ACTIVE whose token expired by a given time. The
 * index `accounts_idle` is used, so only matching rows are read.
 */
export function createListIdle({
  db,
  once,
}: Statements): (environmentId: EnvironmentId, idle: IdleAccounts) => Promise<AccountRow[]> {
  const its = (column: SQLWrapper, name: string) => sql`${column} = ${sql.placeholder(name)}`;
  const statement = once(() =>
    db
      .select(ACCOUNT_COLUMNS)
      .from(accounts)
      .where(
        and(
          eq(accounts.environmentId, sql.placeholder('environmentId')),
          its(accounts.provider, 'provider'),
          its(accounts.authorizationType, 'type'),
          // A literal instead of a parameter, so that the database can use the partial index.
          sql`${accounts.status} = 'ACTIVE'`,
          sql`${accounts.tokenExpiresAt} <= ${sql.placeholder('endedBy')}`,
          sql`(${accounts.tokenExpiresAt}, ${accounts.seq}) > (${sql.placeholder('afterEnd')}, ${sql.placeholder('afterSeq')})`,
        ),
      )
      .orderBy(asc(accounts.tokenExpiresAt), asc(accounts.seq))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  return (environmentId, { provider, type, endedBy, after = BEFORE_ALL, limit }) => {
    const values = { afterEnd: after.tokenExpiresAt, afterSeq: after.seq };
    return statement().all({ environmentId, provider, type, endedBy, limit, ...values });
  };
}
