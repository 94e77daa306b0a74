import { getTableColumns } from '../drizzle.ts';
import type { AccountStatus } from '../schema.ts';
import { accounts, type accountTombstones } from '../schema.ts';

const { searchText: _searchText, ...rowColumns } = getTableColumns(accounts);

/** Everything of an account but the text that search derives. */
export const ACCOUNT_COLUMNS = rowColumns;

/** What a list shows: nothing sealed, nothing large. */
export const SUMMARY_COLUMNS = {
  seq: accounts.seq,
  id: accounts.id,
  environmentId: accounts.environmentId,
  connectionId: accounts.connectionId,
  connector: accounts.connector,
  provider: accounts.provider,
  organizationId: accounts.organizationId,
  userId: accounts.userId,
  identifier: accounts.identifier,
  authorizationType: accounts.authorizationType,
  status: accounts.status,
  statusReason: accounts.statusReason,
  tokenExpiresAt: accounts.tokenExpiresAt,
  lastUsedAt: accounts.lastUsedAt,
  createdAt: accounts.createdAt,
  updatedAt: accounts.updatedAt,
};

/** What is shown of one account without its secrets. */
export const SHOWN_COLUMNS = {
  ...SUMMARY_COLUMNS,
  apiConfig: accounts.apiConfig,
  publicDetails: accounts.publicDetails,
};

export type AccountRow = Omit<typeof accounts.$inferSelect, 'searchText'>;
export type AccountSummaryRow = Pick<AccountRow, keyof typeof SUMMARY_COLUMNS>;
export type AccountShownRow = Pick<AccountRow, keyof typeof SHOWN_COLUMNS>;
export type AccountTombstone = typeof accountTombstones.$inferSelect;

type Required = 'id' | 'connectionId' | 'connector' | 'provider' | 'identifier' | 'authorizationType' | 'status';

/** A new account; what is left out is empty. `version` starts at 1, `seq` is given by the database. */
export type NewAccount = Pick<AccountRow, Required | 'createdAt' | 'updatedAt'> &
  Partial<Omit<AccountRow, Required | 'createdAt' | 'updatedAt' | 'seq' | 'environmentId' | 'version'>>;

/** What an update may change. `version` moves on by itself; what an account is, and where it belongs, never changes. */
export type AccountChanges = { updatedAt: number } & Partial<
  Pick<
    AccountRow,
    | 'authorizationType'
    | 'status'
    | 'statusReason'
    | 'tokenExpiresAt'
    | 'apiConfig'
    | 'publicDetails'
    | 'origins'
    | 'binding'
    | 'providerSubject'
    | 'wrappedDataKey'
    | 'kekId'
    | 'credentialsSealed'
    | 'temporarySealed'
    | 'credentialGeneration'
  >
>;

/** An account by what its owner knows. What is not given does not constrain, so two rows mean that the key is ambiguous. */
export type AccountKey = { organizationId?: string; userId?: string; identifier: string } & (
  | { connectionId: string; connector?: never }
  | { connector: string; connectionId?: never }
);

export interface AccountFilters {
  userId?: string;
  identifier?: string;
  organizationId?: string;
  connectionId?: string;
  /** The key id of a connection. */
  connector?: string;
  provider?: string;
  status?: AccountStatus;
}

export interface AccountSearch {
  /** At least three code points. Matched literally, without regard to case, within identifier, provider or connector. */
  query: string;
  connectionId?: string;
}

export interface StatusChange {
  status: AccountStatus;
  reason: string | null;
  updatedAt: number;
}
