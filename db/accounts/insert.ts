import type { DataKeys } from '../data-keys.ts';
import { getTableColumns, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { AccountRow, NewAccount } from '../rows/accounts.ts';
import { accounts } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { foldForSearch } from './fold.ts';

const EMPTY: Partial<AccountRow> = {
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
  version: 1,
};

export function createInsert(
  statements: Statements,
  dataKeys: DataKeys,
): (environmentId: EnvironmentId, account: NewAccount) => Promise<void> {
  const statement = statements.once(() => prepareInsert(statements));
  return async (environmentId, { wrappedDataKey = null, ...account }) => {
    const dataKey = wrappedDataKey && (await dataKeys.add(wrappedDataKey));
    const searchText = foldForSearch(account.identifier);
    await statement().run({ ...EMPTY, ...account, environmentId, dataKey, searchText });
  };
}

function prepareInsert({ db, dialect }: Statements) {
  const { seq: _seq, ...columns } = getTableColumns(accounts);
  const values = Object.fromEntries(Object.keys(columns).map((name) => [name, sql.placeholder(name)]));
  return db
    .insert(accounts)
    .values({ ...values, seq: dialect.nextSeq('accounts') } as unknown as typeof accounts.$inferInsert)
    .prepare();
}
