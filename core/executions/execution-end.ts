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
import { type PersistentWriteDeps, writePersistently } from '../scheduling/persistent-write.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import { RAW_CALL } from '../tools/tool.ts';
import type { ExecutionPlan } from './plan.ts';
import { type ExecutionStep, recordedSteps } from './steps.ts';

export interface EndDeps {
  now(): number;
  usage: { touch(account: AccountRow): void };
  events: Events;
  metrics: { execution(connector: string, tool: string, outcome: string, seconds: number): void };
}

export interface StoreEndDeps extends PersistentWriteDeps {
  store: Pick<Store, 'write' | 'note'>;
  log: { error(fields: object, message: string): void };
}

/** An execution whose start is recorded. */
export interface StartedExecution {
  environmentId: EnvironmentId;
  /** `call` is undefined for a raw call, and for reading a resource or a prompt of an MCP server. */
  plan: Pick<ExecutionPlan, 'account'> & { call?: ExecutionPlan['call'] };
  /** For a call without a tool: its name in the metrics. By default the name of raw calls. */
  toolName?: string;
  executionId: string;
  /** Milliseconds UTC. */
  startedAt: number;
  /** Whether the call only reads, according to the hints of its tool or to its HTTP method. */
  readOnly: boolean;
}

export interface RunningExecution extends StartedExecution {
  plan: ExecutionPlan;
}

/**
 * How a call ended. An ApiError counts as a call without an effect: nothing was sent, or only a request that the
 * provider rejected. `UNKNOWN` means that an unexpected error interrupted the call.
 */
export type Outcome = ToolOutcome | ApiError | 'UNKNOWN';

/** The data of an execution that must be stored before the response is sent. */
export interface ExecutionEnd {
  executionId: string;
  /**
   * Whether the call may have changed something at the provider. If so, a power failure after the response must not
   * lose its outcome.
   */
  mayHaveChanged: boolean;
  write(tx: Transaction): Promise<void>;
  /**
   * Stores the request and the result, if the environment keeps contents. If this fails, the outcome is still stored.
   */
  writeContents?(tx: Repositories): Promise<void>;
}

/**
 * Determines the end of an execution, counts the execution in the metrics, and notes that the account was used, unless
 * nothing was sent or the outcome is `UNKNOWN`. The end itself is not stored yet.
 *
 * @param details `contents`: the encrypted request and result, if the environment keeps them; `steps`: the recorded
 * steps
 */
export function endOf(
  outcome: Outcome,
  { environmentId, plan, executionId, startedAt, readOnly, toolName = RAW_CALL }: StartedExecution,
  cause: Cause,
  deps: EndDeps,
  { contents, steps = [] }: { contents?: NewStoredContent | undefined; steps?: readonly ExecutionStep[] } = {},
): ExecutionEnd {
  const finishedAt = deps.now();
  const record = { finishedAt, ...describe(outcome), steps: recordedSteps(steps) ?? null };
  if (wasSent(outcome) && outcome !== 'UNKNOWN') deps.usage.touch(plan.account);
  const { connector } = plan.account;
  const seconds = (finishedAt - startedAt) / 1000;
  deps.metrics.execution(connector, plan.call?.tool.name ?? toolName, resultOf(record), seconds);
  return {
    executionId,
    mayHaveChanged: !readOnly && wasSent(outcome),
    async write(tx) {
      await tx.executions.finish(environmentId, executionId, record);
      if (record.status === 'UNKNOWN') return;
      await deps.events.emit(tx, cause, {
        type: record.status === 'SUCCEEDED' ? 'execution.succeeded' : 'execution.failed',
        subject: executionId,
        data: async (show) => ({ execution: await show.execution(executionId) }),
      });
    },
    ...(contents && { writeContents: (tx) => tx.storedContents.insert(environmentId, contents) }),
  };
}

/**
 * Stores the end of an execution, together with the writes of `more`. Later reads see the end. If the call may have
 * changed something, the end is durable when this function returns. If not, the end becomes durable with the next
 * write, and only a power failure can lose it. `durable` overrides this choice.
 *
 * @throws if the end could not be stored: ApiError EXECUTION_OUTCOME_UNKNOWN if the call may have changed something,
 * otherwise the error of the store
 */
export async function storeEnd(
  deps: StoreEndDeps,
  end: ExecutionEnd,
  { more, durable = end.mayHaveChanged }: { more?: (tx: Transaction) => Promise<void>; durable?: boolean } = {},
): Promise<void> {
  const { executionId, mayHaveChanged, writeContents } = end;
  const both = async (tx: Transaction): Promise<void> => {
    await end.write(tx);
    await more?.(tx);
  };
  const unit = more ? both : end.write;
  const contents = writeContents && deps.store.note(writeContents).catch(contentsLost);
  try {
    if (durable) await writePersistently(deps, unit, { isolated: false });
    else await deps.store.note(unit);
    if (contents) await contents;
  } catch (err) {
    deps.log.error({ err, execution_id: executionId }, 'outcome of an execution was not recorded');
    if (!mayHaveChanged) throw err;
    throw new ApiError(
      'EXECUTION_OUTCOME_UNKNOWN',
      'The call was made, but its outcome could not be recorded. Check the effect at the provider before repeating it.',
      { extra: { execution_id: executionId }, cause: err },
    );
  }

  function contentsLost(err: unknown): void {
    deps.log.error({ err, execution_id: executionId }, 'contents of an execution were not stored');
  }
}

/** Errors that mean that the credential is not valid any more. The record stores these as `upstream_auth`. */
const CREDENTIAL_ENDED: ReadonlySet<ErrorCode> = new Set(['ACCOUNT_NOT_ACTIVE']);

/** Returns the label of the outcome in the metrics. */
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

/**
 * Whether the call was or may have been sent, which includes calls with the outcome `UNKNOWN`. A call that the provider
 * rejected was sent.
 */
function wasSent(outcome: Outcome): boolean {
  if (outcome === 'UNKNOWN') return true;
  return !(outcome instanceof ApiError) && (outcome.ok || outcome.sent);
}
