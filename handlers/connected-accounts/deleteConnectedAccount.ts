import { findAccount } from '../../core/accounts/find.ts';
import { deleteAccount } from '../../core/accounts/remove-account.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import { endGrantsWithoutAccount } from '../../core/mcp-login/grants.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteConnectedAccount: Handler<'deleteConnectedAccount', Accounts> = (call, reply, accounts) => {
  const selector = readSelector(call.body);
  return call.commit(async (tx) => {
    const account = await findAccount(tx, call.environment.id, selector);
    await deleteAccount(tx, accounts, account, call.cause);
    await endGrantsWithoutAccount(tx, accounts, call.environment.id, account, call.cause);
    tx.afterCommit(() => {
      accounts.links.expireSoon();
      accounts.scrubStorage();
    });
    return reply(200);
  });
};
