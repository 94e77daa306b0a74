import { findAccount } from '../../core/accounts/find.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import { updateAccount } from '../../core/accounts/write.ts';
import type { Handler } from '../../http/contract.ts';
import { mayReadCredentials } from '../answer-account.ts';
import { commitAccount } from '../commit-account.ts';

export const updateConnectedAccount: Handler<'updateConnectedAccount'> = (call, reply, deps) => {
  const { connected_account: input, ...name } = call.body;
  const selector = readSelector(name);
  return commitAccount(
    call,
    (body) => reply(200, body),
    deps,
    async (tx) => {
      const before = await findAccount(tx, call.environment.id, selector);
      const { account, replaced } = await updateAccount(tx, deps, before, input, call.cause);
      await deps.events.accountUpdated(tx, call.cause, account.id);
      if (replaced) {
        const generations = [before.credentialGeneration, account.credentialGeneration] as const;
        await deps.events.credentialsReplaced(tx, call.cause, account.id, ...generations);
        tx.afterCommit(deps.links.expireSoon);
      }
      // What had been obtained may have been given up with it.
      if (before.temporarySealed !== null) tx.afterCommit(deps.revocations.soon);
      // The reply shows what was stored before, too: it is a reading like any other.
      if (mayReadCredentials(call.client)) await deps.events.credentialsRead(tx, call.cause, account.id);
      return { account };
    },
  );
};
