import { credentialsRead } from '../../core/accounts/credentials-read.ts';
import { findAccount } from '../../core/accounts/find.ts';
import { requireAcceptedForChange } from '../../core/accounts/require-accepted.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import { updateAccount } from '../../core/accounts/update-account.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import type { Handler } from '../../http/contract.ts';
import { mayReadCredentials } from '../account-response.ts';
import { commitAccount } from '../commit-account.ts';

export const updateConnectedAccount: Handler<'updateConnectedAccount', Accounts> = async (call, reply, accounts) => {
  const { connected_account: input, verify_credentials: verifies = false, ...name } = call.body;
  const selector = readSelector(name);
  if (verifies) {
    const { read } = accounts.store;
    const account = await findAccount(read, call.environment.id, selector);
    await requireAcceptedForChange(read, accounts, call.environment, account, input);
  }
  return commitAccount(
    call,
    (body) => reply(200, body),
    accounts,
    async (tx) => {
      const before = await findAccount(tx, call.environment.id, selector);
      const { account, replaced } = await updateAccount(tx, accounts, before, input, call.cause);
      if (replaced) tx.afterCommit(accounts.links.expireSoon);
      // The response also contains credentials that were stored before, so this counts as a read of credentials.
      if (mayReadCredentials(call.client)) await credentialsRead(tx, accounts, account, call.cause);
      return { account };
    },
  );
};
