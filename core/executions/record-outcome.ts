import type { AccountRow, EnvironmentId, ExecutionOutcome, Store } from '../../db/store.ts';
import { ApiError } from '../errors.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import { RAW_CALL } from '../tools/tool.ts';
import type { ExecutionPlan } from './plan.ts';

export interface RecordTools {
  store: Pick<Store, 'note'>;
  now(): number;
  usage: { touch(account: AccountRow): void };
  metrics: { execution(connector: string, tool: string, outcome: string, seconds: number): void };
  log: { error(fields: object, message: string): void };
}

/** An execution whose start is recorded. */
export interface StartedExecution {
  environmentId: EnvironmentId;
  /** Without a call: a raw one. */
  plan: Pick<ExecutionPlan, 'account'> & { call?: ExecutionPlan['call'] };
  executionId: string;
  /** Milliseconds UTC. */
  startedAt: number;
}

export interface RunningExecution extends StartedExecution {
  plan: ExecutionPlan;
}

/** What came of a call; `UNKNOWN` when the service failed while it was made. */
type Outcome = ToolOutcome | ApiError | 'UNKNOWN';

/**
 * Ends the record of an execution. Nobody waits for it: the start is durable, so a crash before this write leaves an execution
 * whose outcome is unknown, and that is the truth.
 */
export function recordOutcome(outcome: Outcome, execution: StartedExecution, tools: RecordTools): void {
  const { environmentId, plan, executionId, startedAt } = execution;
  const finishedAt = tools.now();
  const record = { finishedAt, ...describe(outcome) };
  if (wasSent(outcome)) tools.usage.touch(plan.account);
  const result = record.status === 'UNKNOWN' ? 'unknown' : (record.errorKind ?? 'success');
  tools.metrics.execution(
    plan.account.connector,
    plan.call?.tool.name ?? RAW_CALL,
    result,
    (finishedAt - startedAt) / 1000,
  );
  tools.store
    .note((tx) => tx.executions.finish(environmentId, executionId, record))
    .catch((err) => tools.log.error({ err, execution_id: executionId }, 'outcome of an execution was not recorded'));
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
