import { ApiError } from '../../core/errors.ts';
import type { ExecutionPlan } from '../../core/executions/plan.ts';
import type { ToolOutcome } from '../../core/tools/outcome.ts';
import type { EnvironmentRow, ExecutionOutcome } from '../../db/store.ts';
import type { Deps } from '../../http/contract.ts';

interface Execution {
  environment: EnvironmentRow;
  plan: ExecutionPlan;
  executionId: string;
  /** Milliseconds UTC. */
  startedAt: number;
}

/** What came of a call; `UNKNOWN` when the service failed while it was made. */
type Outcome = ToolOutcome | ApiError | 'UNKNOWN';

/**
 * Ends the record of an execution. Nobody waits for it: the start is durable, so a crash before this write leaves an execution
 * whose outcome is unknown, and that is the truth.
 */
export function recordOutcome(outcome: Outcome, execution: Execution, deps: Deps): void {
  const { environment, plan, executionId, startedAt } = execution;
  const finishedAt = deps.now();
  const record = { finishedAt, ...describe(outcome) };
  if (wasSent(outcome)) deps.usage.touch(plan.account);
  const result = record.status === 'UNKNOWN' ? 'unknown' : (record.errorKind ?? 'success');
  deps.metrics.execution(plan.account.connector, result, (finishedAt - startedAt) / 1000);
  deps.store
    .write((tx) => tx.executions.finish(environment.id, executionId, record))
    .catch((err) => deps.log.error({ err, execution_id: executionId }, 'outcome of an execution was not recorded'));
}

function describe(outcome: Outcome): Omit<ExecutionOutcome, 'finishedAt'> {
  if (outcome === 'UNKNOWN') return { status: 'UNKNOWN' };
  if (outcome instanceof ApiError) return { status: 'FAILED', errorKind: 'upstream_auth' };
  if (outcome.ok) return { status: 'SUCCEEDED', upstreamStatus: outcome.upstreamStatus };
  return { status: 'FAILED', errorKind: outcome.error.kind, upstreamStatus: outcome.error.upstreamStatus ?? null };
}

/** A call that the provider refused has used the account as well. */
function wasSent(outcome: Outcome): boolean {
  return outcome !== 'UNKNOWN' && !(outcome instanceof ApiError) && (outcome.ok || outcome.sent);
}
