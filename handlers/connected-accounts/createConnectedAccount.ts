import { readKey } from '../../core/accounts/selector.ts';
import { createAccount } from '../../core/accounts/write.ts';
import type { Handler } from '../../http/contract.ts';
import { commitAccount } from '../commit-account.ts';

export const createConnectedAccount: Handler<'createConnectedAccount'> = (call, reply, deps) => {
  const { connected_account: input = {}, ...name } = call.body;
  const key = readKey(name);
  return commitAccount(
    call,
    (body) => reply(201, body),
    deps,
    async (tx) => {
      const created = await createAccount(tx, deps, call.environment.id, key, input);
      await deps.events.accountCreated(tx, call.cause, created.account.id, created.account.status);
      return created;
    },
  );
};
