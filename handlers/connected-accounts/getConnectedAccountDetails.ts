import { findShownAccount } from '../../core/accounts/find.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import { presentAccountDetails } from '../../core/present/account.ts';
import type { Handler } from '../../http/contract.ts';

export const getConnectedAccountDetails: Handler<'getConnectedAccountDetails', Accounts> = async (
  call,
  reply,
  accounts,
) => {
  const account = await findShownAccount(accounts.store.read, call.environment.id, readSelector(call.query));
  return reply(200, { connected_account: presentAccountDetails(account, accounts.usage.lastUsedAt(account)) });
};
