import { readSelector } from '../../core/accounts/selector.ts';
import type { Executions } from '../../core/capabilities/executions.ts';
import { checkAccount } from '../../core/executions/check-account.ts';
import { rfc3339 } from '../../core/text/rfc3339.ts';
import type { Handler } from '../../http/contract.ts';

export const checkConnectedAccount: Handler<'checkConnectedAccount', Executions> = async (call, reply, executions) => {
  const { environment, cause, body } = call;
  const egress = executions.egressOf(environment);
  const { read } = executions.store;
  const checked = await checkAccount(read, executions, environment, egress, readSelector(body), cause);
  const { outcome, reason, account } = checked;
  // Committed, so that a repeated request with the same Idempotency-Key gets the same response.
  return call.commit(async () =>
    reply(200, { id: account.id, outcome, reason, checked_at: rfc3339(executions.now()) }),
  );
};
