import type {
  AccountRow,
  EnvironmentId,
  ExecutionOutcome,
  NewStoredContent,
  Repositories,
  Store,
  Transaction,
} from '../../db/store.ts';
import { ApiError, type ErrorCode } from '../errors.ts';
import type { Cause, Events } from '../events/events.ts';
import { type PersistentWriteTools, writePersistently } from '../persistent-write.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import { RAW_CALL } from '../tools/tool.ts';
import type { ExecutionPlan } from './plan.ts';

export interface EndTools {
  now(): number;
  usage: { touch(account: AccountRow): void };
  events: Events;
  metrics: { execution(connector: string, tool: string, outcome: string, seconds: number): void };
}

export interface StoreEndTools extends PersistentWriteTools {
  store: Pick<Store, 'write' | 'note'>;
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
  /** Whether the call only reads, by the hints of its tool or its HTTP method. */
  readOnly: boolean;
}

export interface RunningExecution extends StartedExecution {
  plan: ExecutionPlan;
}

/** How a call ended; `UNKNOWN` when the service failed while it was made. */
export type Outcome = ToolOutcome | ApiError | 'UNKNOWN';

/** What has to be stored of an execution before its response leaves. */
export interface ExecutionEnd {
  executionId: string;
  /** The call may have changed something at the provider: a loss of power after the response must not lose its outcome. */
  mayHaveChanged: boolean;
  write(tx: Transaction): Promise<void>;
  /** Stores what it sent and got, where the environment keeps that. A failure does no harm to the outcome. */
  writeContents?(tx: Repositories): Promise<void>;
}

/**
 * Determines the end of an execution and counts it. Nothing is stored yet.
 *
 * @param contents what the execution sent and got, sealed, where the environment keeps that
 */
export function endOf(
  outcome: Outcome,
  { environmentId, plan, executionId, startedAt, readOnly }: StartedExecution,
  cause: Cause,
  tools: EndTools,
  contents?: NewStoredContent,
): ExecutionEnd {
  const finishedAt = tools.now();
  const record = { finishedAt, ...describe(outcome) };
  if (wasSent(outcome) && outcome !== 'UNKNOWN') tools.usage.touch(plan.account);
  const { connector } = plan.account;
  const seconds = (finishedAt - startedAt) / 1000;
  tools.metrics.execution(connector, plan.call?.tool.name ?? RAW_CALL, resultOf(record), seconds);
  return {
    executionId,
    mayHaveChanged: !readOnly && wasSent(outcome),
    async write(tx) {
      await tx.executions.finish(environmentId, executionId, record);
      if (record.status === 'UNKNOWN') return;
      await tools.events.emit(tx, cause, {
        type: record.status === 'SUCCEEDED' ? 'execution.succeeded' : 'execution.failed',
        subject: executionId,
        data: async (show) => ({ execution: await show.execution(executionId) }),
      });
    },
    ...(contents && { writeContents: (tx) => tx.storedContents.insert(environmentId, contents) }),
  };
}

/**
 * Stores the end of an execution, together with `more`. Every read that begins afterwards sees it. When the call may have changed
 * something, it is durable; otherwise it is durable with the next write, and only a loss of power can take it back.
 *
 * @throws ApiError EXECUTION_OUTCOME_UNKNOWN when a call that may have changed something could not be recorded; StorageError when
 *   any other could not
 */
export async function storeEnd(
  tools: StoreEndTools,
  end: ExecutionEnd,
  { more, durable = end.mayHaveChanged }: { more?: (tx: Transaction) => Promise<void>; durable?: boolean } = {},
): Promise<void> {
  const { executionId, mayHaveChanged, writeContents } = end;
  const unit = async (tx: Transaction): Promise<void> => {
    await end.write(tx);
    await more?.(tx);
  };
  const contents = writeContents && tools.store.note(writeContents).catch(contentsLost);
  try {
    if (durable) await writePersistently(tools, unit);
    else await tools.store.note(unit);
    await contents;
  } catch (err) {
    tools.log.error({ err, execution_id: executionId }, 'outcome of an execution was not recorded');
    if (!mayHaveChanged) throw err;
    throw new ApiError('EXECUTION_OUTCOME_UNKNOWN', 'The call was made, but its outcome could not be recorded.', {
      extra: { execution_id: executionId },
      cause: err,
    });
  }

  function contentsLost(err: unknown): void {
    tools.log.error({ err, execution_id: executionId }, 'contents of an execution were not stored');
  }
}

/** Refusals because the credential has ended. Any other refusal is a setting that is missing or wrong. */
const CREDENTIAL_ENDED: ReadonlySet<ErrorCode> = new Set(['ACCOUNT_NOT_ACTIVE']);

/** The outcome as metrics name it. */
function resultOf({ status, errorKind }: Omit<ExecutionOutcome, 'finishedAt'>): string {
  if (status === 'UNKNOWN') return 'unknown';
  if (status === 'SUCCEEDED') return 'success';
  return errorKind ?? 'refused';
}

function describe(outcome: Outcome): Omit<ExecutionOutcome, 'finishedAt'> {
  if (outcome === 'UNKNOWN') return { status: 'UNKNOWN' };
  if (outcome instanceof ApiError) {
    return { status: 'FAILED', errorKind: CREDENTIAL_ENDED.has(outcome.code) ? 'upstream_auth' : null };
  }
  if (outcome.ok) return { status: 'SUCCEEDED', upstreamStatus: outcome.upstreamStatus };
  return { status: 'FAILED', errorKind: outcome.error.kind, upstreamStatus: outcome.error.upstreamStatus ?? null };
}

/** A call that the provider refused was sent as well; of an interrupted one it is not known, so it counts as sent. */
function wasSent(outcome: Outcome): boolean {
  if (outcome === 'UNKNOWN') return true;
  return !(outcome instanceof ApiError) && (outcome.ok || outcome.sent);
}
