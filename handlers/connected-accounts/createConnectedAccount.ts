import { createAccount } from '../../core/accounts/create-account.ts';
import { requireAcceptedForNew } from '../../core/accounts/require-accepted.ts';
import { readKey } from '../../core/accounts/selector.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import type { Handler } from '../../http/contract.ts';
import { commitAccount } from '../commit-account.ts';

export const createConnectedAccount: Handler<'createConnectedAccount', Accounts> = async (call, reply, accounts) => {
  const { connected_account: input = {}, verify_credentials: verifies = false, ...name } = call.body;
  const key = readKey(name);
  const { read } = accounts.store;
  if (verifies && !(await call.isRepeated())) {
    await requireAcceptedForNew(read, accounts, call.environment, key.connector, input);
  }
  return commitAccount(
    call,
    (body) => reply(201, body),
    accounts,
    (tx) => createAccount(tx, accounts, call.environment.id, key, input, call.cause),
  );
};
