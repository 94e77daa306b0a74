import { findShownAccount } from '../../core/accounts/find.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import { presentAccountDetails } from '../../core/present/account.ts';
import type { Handler } from '../../http/contract.ts';

export const getConnectedAccountDetails: Handler<'getConnectedAccountDetails'> = async (call, reply, deps) => {
  const account = await findShownAccount(deps.store.read, call.environment.id, readSelector(call.query));
  return reply(200, { connected_account: presentAccountDetails(account, deps.usage.lastUsedAt(account)) });
};
