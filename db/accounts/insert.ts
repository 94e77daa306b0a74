import type { DataKeys } from '../data-keys.ts';
import { getTableColumns, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { AccountRow, NewAccount, OptionalColumns } from '../rows/accounts.ts';
import { accounts } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { foldForSearch } from './fold.ts';

const EMPTY: Omit<OptionalColumns, 'wrappedDataKey'> = {
  organizationId: '',
  userId: '',
  statusReason: null,
  tokenExpiresAt: null,
  lastUsedAt: null,
  apiConfig: {},
  publicDetails: null,
  origins: [],
  binding: { base: null, use: '', fields: {}, issued: null, endpoints: [] },
  providerSubject: null,
  requiredScopes: null,
  kekId: null,
  credentialsSealed: null,
  temporarySealed: null,
  credentialGeneration: 0,
};

/**
 * Creates the function that inserts an account. The function returns the row that a later read of the account returns.
 */
export function createInsert(
  statements: Statements,
  dataKeys: DataKeys,
): (environmentId: EnvironmentId, account: NewAccount) => Promise<AccountRow> {
  const statement = statements.once(() => prepareInsert(statements));
  return async (environmentId, { wrappedDataKey = null, ...account }) => {
    const dataKey = wrappedDataKey && (await dataKeys.add(wrappedDataKey));
    const searchText = foldForSearch(account.identifier);
    const row = { ...EMPTY, ...account, environmentId, version: 1 };
    const { seq } = (await statement().get({ ...row, dataKey, searchText })) as { seq: number };
    return { ...row, seq, wrappedDataKey } as AccountRow;
  };
}

function prepareInsert({ db, dialect }: Statements) {
  const { seq: _seq, ...columns } = getTableColumns(accounts);
  const values = Object.fromEntries(Object.keys(columns).map((name) => [name, sql.placeholder(name)]));
  return db
    .insert(accounts)
    .values({ ...values, seq: dialect.nextSeq('accounts') } as unknown as typeof accounts.$inferInsert)
    .returning({ seq: accounts.seq })
    .prepare();
}
