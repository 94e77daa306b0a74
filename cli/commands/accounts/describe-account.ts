import type { components } from '../../../generated/api.d.ts';
import { fields } from '../../output/table.ts';

type Account = components['schemas']['ConnectedAccountDetails'];

/** Formats an account for people. */
export function describeAccount(account: Account): string {
  return fields({
    Account: account.id,
    Connector: account.connector,
    Provider: account.provider,
    Connection: account.connection_id,
    Identifier: account.identifier,
    User: account.user_id,
    Organization: account.organization_id,
    Type: account.authorization_type,
    Status: account.status,
    Reason: account.status_reason,
    'Token expires': account.token_expires_at,
    'Last used': account.last_used_at,
    Created: account.created_at,
    Updated: account.updated_at,
  });
}
