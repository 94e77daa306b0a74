import { and, eq, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { AccountKey, AccountRow } from '../rows/accounts.ts';
import { accounts } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { ACCOUNT_COLUMNS } from './columns.ts';
import { CONNECTION_OF_CONNECTOR } from './list.ts';

const ENVIRONMENT = sql.placeholder('environmentId');

/**
 * Creates the function that finds accounts by their key. It returns at most two rows, because two show that the key is
 * ambiguous. If the key contains a user id, the index of the user ids is used, because a user has few accounts.
 * Otherwise the index of the unique key is used, whose first columns are the connection and the identifier.
 */
export function createByKey({
  db,
  oncePerShape,
  dialect,
}: Statements): (environmentId: EnvironmentId, key: AccountKey) => Promise<AccountRow[]> {
  const statements = oncePerShape<{ all(values: Record<string, unknown>): Promise<AccountRow[]> }>();
  const prepare = (key: AccountKey) => {
    const noIndex = key.userId ? dialect.noIndex : sql.raw('');
    const connection =
      key.connectionId === undefined ? CONNECTION_OF_CONNECTOR : sql`${sql.placeholder('connectionId')}`;
    const conditions = [
      eq(accounts.environmentId, ENVIRONMENT),
      sql`${noIndex}${accounts.connectionId} = ${connection}`,
      sql`${noIndex}${accounts.identifier} = ${sql.placeholder('identifier')}`,
    ];
    if (key.organizationId !== undefined) {
      conditions.push(sql`${noIndex}${accounts.organizationId} = ${sql.placeholder('organizationId')}`);
    }
    if (key.userId !== undefined) {
      conditions.push(sql`${accounts.userId} = ${sql.placeholder('userId')}`);
      // A literal instead of a parameter, so that the database can use the partial index.
      if (key.userId !== '') conditions.push(sql`${accounts.userId} <> ''`);
    }
    return db
      .select(ACCOUNT_COLUMNS)
      .from(accounts)
      .where(and(...conditions))
      .limit(2)
      .prepare();
  };
  return (environmentId, key) => {
    const { connectionId, organizationId, userId } = key;
    const shape = [connectionId, organizationId, userId, userId || undefined].map((part) => part !== undefined).join();
    return statements(shape, () => prepare(key)).all({ ...key, environmentId });
  };
}
