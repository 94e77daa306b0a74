import type { Details } from '../core/accounts/authorization-details.ts';
import { openCredentials } from '../core/accounts/credentials.ts';
import type { Accounts } from '../core/capabilities/accounts.ts';
import { presentAccount, presentAccountDetails } from '../core/present/account.ts';
import type { AccountRow } from '../db/store.ts';
import type { Principal, Schemas } from '../http/contract.ts';

/**
 * Returns the account in the response of create and update: complete for a client that may read credentials, otherwise
 * without the secret values. A client that may only write must not receive stored credentials.
 *
 * @param details the credentials, if the caller has decrypted them
 */
export function accountResponse(
  account: AccountRow,
  client: Principal,
  accounts: Accounts,
  details?: Details,
): Schemas['ConnectedAccount'] {
  const lastUsedAt = accounts.usage.lastUsedAt(account);
  if (!mayReadCredentials(client)) return presentAccountDetails(account, lastUsedAt);
  return presentAccount(account, details ?? openCredentials(accounts.vault, account, account), lastUsedAt);
}

export function mayReadCredentials(client: Principal): boolean {
  return client.scopes.includes('credentials:read');
}
