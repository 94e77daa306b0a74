import { findAccount } from '../../core/accounts/find.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteConnectedAccount: Handler<'deleteConnectedAccount'> = (call, reply, deps) => {
  const selector = readSelector(call.body);
  return call.commit(async (tx) => {
    const account = await findAccount(tx, call.environment.id, selector);
    await tx.authRequests.close(call.environment.id, account.id, deps.now());
    await tx.accounts.remove(call.environment.id, account.id, deps.now());
    await deps.events.accountDeleted(tx, call.cause, account.id);
    deps.links.expireSoon();
    deps.scrubStorage();
    return reply(200);
  });
};
