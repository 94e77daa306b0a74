import { sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import type { AccountRow, NewAccount } from '../rows/accounts.ts';
import { accounts } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { ACCOUNT_COLUMNS } from './columns.ts';
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
  wrappedDataKey: null,
  kekId: null,
  credentialsSealed: null,
  temporarySealed: null,
  credentialGeneration: 0,
  version: 1,
};

export function createInsert(
  statements: Statements,
): (environmentId: EnvironmentId, account: NewAccount) => Promise<void> {
  const statement = statements.once(() => prepareInsert(statements));
  return async (environmentId, account) => {
    await statement().run({ ...EMPTY, ...account, environmentId, searchText: foldForSearch(account.identifier) });
  };
}

function prepareInsert({ db, dialect }: Statements) {
  const { seq: _seq, ...columns } = ACCOUNT_COLUMNS;
  const names = [...Object.keys(columns), 'searchText'];
  const values = Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]));
  return db
    .insert(accounts)
    .values({ ...values, seq: dialect.nextSeq('accounts') } as unknown as typeof accounts.$inferInsert)
    .prepare();
}
