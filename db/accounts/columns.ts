import { getTableColumns } from '../drizzle.ts';
import { accounts } from '../schema.ts';

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
