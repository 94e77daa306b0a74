import { findAccount } from '../../core/accounts/find.ts';
import { disconnectAccount } from '../../core/accounts/remove-account.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import { presentAccountDetails } from '../../core/present/account.ts';
import type { Handler } from '../../http/contract.ts';

export const disconnectConnectedAccount: Handler<'disconnectConnectedAccount', Accounts> = (call, reply, accounts) => {
  const selector = readSelector(call.body);
  return call.commit(async (tx) => {
    const before = await findAccount(tx, call.environment.id, selector);
    const account = await disconnectAccount(tx, accounts, before, 'Disconnected by an API client.', call.cause);
    tx.afterCommit(() => {
      accounts.links.expireSoon();
      accounts.scrubStorage();
    });
    return reply(200, { connected_account: presentAccountDetails(account, accounts.usage.lastUsedAt(account)) });
  });
};
