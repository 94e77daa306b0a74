import { findAccount } from '../../core/accounts/find.ts';
import { readSelector } from '../../core/accounts/selector.ts';
import type { Executions } from '../../core/capabilities/executions.ts';
import { ApiError } from '../../core/errors.ts';
import { checkAccount } from '../../core/executions/check-account.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const checkConnectedAccount: Handler<'checkConnectedAccount', Executions> = (call, reply, executions) => {
  const { environment, cause, body } = call;
  const selector = readSelector(body);
  return call.commitThenAct(
    executions.newId('exec'),
    async (tx) => {
      await findAccount(tx, environment.id, selector);
    },
    async () => {
      const egress = executions.egressOf(environment);
      const { read } = executions.store;
      try {
        const checked = await checkAccount(read, executions, environment, egress, selector, cause);
        const { outcome, reason, account } = checked;
        return { reply: reply(200, { id: account.id, outcome, reason, checked_at: rfc3339(executions.now()) }) };
      } catch (error) {
        // An expected error is returned as a response and not thrown, so that it is stored for the idempotency key.
        if (error instanceof ApiError) return { reply: call.problem(error) };
        throw error;
      }
    },
  );
};
