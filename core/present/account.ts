import type { AccountRow, AccountShownRow, AccountSummaryRow } from '../../db/store.ts';
import type { Details } from '../accounts/authorization-details.ts';
import { withoutInternals } from '../accounts/details.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { EMPTY, optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

/** @param lastUsedAt milliseconds UTC; it includes uses that are not written to the database yet */
export function presentSummary(row: AccountSummaryRow, lastUsedAt: number | null): Schemas['ConnectedAccountSummary'] {
  return {
    id: row.id,
    connection_id: row.connectionId,
    connector: row.connector,
    provider: row.provider,
    organization_id: row.organizationId,
    user_id: row.userId,
    identifier: row.identifier,
    authorization_type: row.authorizationType,
    status: row.status,
    status_reason: row.statusReason ?? EMPTY,
    token_expires_at: optionalTime(row.tokenExpiresAt),
    last_used_at: optionalTime(lastUsedAt),
    created_at: rfc3339(row.createdAt),
    updated_at: rfc3339(row.updatedAt),
  };
}

/** @param details the decrypted credentials; fields that must never be returned are removed here */
export function presentAccount(
  row: AccountRow,
  details: Details,
  lastUsedAt: number | null,
): Schemas['ConnectedAccount'] {
  return {
    ...presentSummary(row, lastUsedAt),
    api_config: row.apiConfig,
    authorization_details: withoutInternals(details) as Schemas['AuthorizationDetails'],
  };
}

export function presentAccountDetails(
  row: AccountShownRow,
  lastUsedAt: number | null,
): Schemas['ConnectedAccountDetails'] {
  return {
    ...presentSummary(row, lastUsedAt),
    api_config: row.apiConfig,
    authorization_details: (row.publicDetails ?? {}) as Schemas['AuthorizationDetailsWithoutSecrets'],
  };
}
