import { findAccount } from '../../core/accounts/find.ts';
import { deleteAccount } from '../../core/accounts/leave.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import type { Handler } from '../../http/contract.ts';

export const deleteConnectedAccount: Handler<'deleteConnectedAccount'> = (call, reply, deps) => {
  const selector = readSelector(call.body);
  return call.commit(async (tx) => {
    const account = await findAccount(tx, call.environment.id, selector);
    await deleteAccount(tx, deps, account);
    await deps.events.accountDeleted(tx, call.cause, account.id);
    tx.afterCommit(() => {
      deps.links.expireSoon();
      deps.revocations.soon();
      deps.scrubStorage();
    });
    return reply(200);
  });
};
