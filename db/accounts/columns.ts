import { wrappedDataKeyIn } from '../data-keys.ts';
import { getTableColumns } from '../drizzle.ts';
import { accounts } from '../schema.ts';

const { searchText: _searchText, dataKey, ...rowColumns } = getTableColumns(accounts);

/**
 * All columns of an account, with the wrapped data key instead of the number of its slot, and without the search text,
 * which is derived from the identifier.
 */
export const ACCOUNT_COLUMNS = { ...rowColumns, wrappedDataKey: wrappedDataKeyIn(dataKey) };

/** The columns that lists return: none that is encrypted or large. */
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

/** The columns that the API returns for one account without its secrets. */
export const SHOWN_COLUMNS = {
  ...SUMMARY_COLUMNS,
  apiConfig: accounts.apiConfig,
  publicDetails: accounts.publicDetails,
};
