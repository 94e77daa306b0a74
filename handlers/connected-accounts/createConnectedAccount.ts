import { readKey } from '../../core/accounts/selector.ts';
import { createAccount } from '../../core/accounts/write.ts';
import type { Handler } from '../../http/contract.ts';
import { answerAccount } from '../answer-account.ts';

export const createConnectedAccount: Handler<'createConnectedAccount'> = (call, reply, deps) => {
  const { connected_account: input = {}, ...name } = call.body;
  const key = readKey(name);
  return call.commit(async (tx) => {
    const { account, details } = await createAccount(tx, deps, call.environment.id, key, input);
    await deps.events.accountCreated(tx, call.cause, account.id, account.status);
    return reply(201, { connected_account: answerAccount(account, call.client, deps, details) });
  });
};
