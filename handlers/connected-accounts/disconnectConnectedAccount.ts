import { findAccount } from '../../core/accounts/find.ts';
import { disconnectAccount } from '../../core/accounts/leave.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import { presentAccountDetails } from '../../core/present/account.ts';
import type { Handler } from '../../http/contract.ts';

export const disconnectConnectedAccount: Handler<'disconnectConnectedAccount'> = (call, reply, deps) => {
  const selector = readSelector(call.body);
  return call.commit(async (tx) => {
    const before = await findAccount(tx, call.environment.id, selector);
    const account = await disconnectAccount(tx, deps, before, 'Disconnected by an API client.');
    await deps.events.accountDisconnected(tx, call.cause, account.id);
    tx.afterCommit(() => {
      deps.links.expireSoon();
      deps.revocations.soon();
      deps.scrubStorage();
    });
    return reply(200, { connected_account: presentAccountDetails(account, deps.usage.lastUsedAt(account)) });
  });
};
