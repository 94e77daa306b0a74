import { readKey } from '../../core/accounts/selector.ts';
import { createAccount } from '../../core/accounts/write.ts';
import type { Accounts } from '../../core/capabilities/accounts.ts';
import type { Handler } from '../../http/contract.ts';
import { commitAccount } from '../commit-account.ts';

export const createConnectedAccount: Handler<'createConnectedAccount', Accounts> = (call, reply, accounts) => {
  const { connected_account: input = {}, ...name } = call.body;
  const key = readKey(name);
  return commitAccount(
    call,
    (body) => reply(201, body),
    accounts,
    (tx) => createAccount(tx, accounts, call.environment.id, key, input, call.cause),
  );
};
