import { findAccount } from '../../core/accounts/find.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import type { Executions } from '../../core/capabilities/executions.ts';
import { ApiError } from '../../core/errors.ts';
import { refreshAccount } from '../../core/executions/refresh-account.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const refreshConnectedAccount: Handler<'refreshConnectedAccount', Executions> = (call, reply, executions) => {
  const { environment, cause, body } = call;
  const selector = readSelector(body);
  const { read } = executions.store;
  return call.commitThenAct(
    executions.newId('exec'),
    async (tx) => {
      await findAccount(tx, environment.id, selector);
    },
    async () => {
      try {
        const { outcome, reason, account } = await refreshAccount(read, executions, environment, selector, cause);
        const expiresAt = account.tokenExpiresAt === null ? null : rfc3339(account.tokenExpiresAt);
        return { reply: reply(200, { id: account.id, outcome, reason, token_expires_at: expiresAt }) };
      } catch (error) {
        // An expected error is returned as a response and not thrown, so that it is stored for the idempotency key.
        if (error instanceof ApiError) return { reply: call.problem(error) };
        throw error;
      }
    },
  );
};
