import { STORED } from '../budgets.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { ToolErrorKind } from '../tools/outcome.ts';
import { isSendFailure, KIND_OF_FAILURE } from '../tools/wire.ts';

/** One step of an execution between its start and its outcome, in the format of the API. */
export interface ExecutionStep {
  kind: 'REQUEST' | 'WAIT' | 'REFRESH';
  /** RFC 3339. */
  started_at: string;
  duration_ms: number;
  /** The HTTP status of the response to a request, or null. */
  upstream_status: number | null;
  /** Why a request has no response, or null. For a refresh that obtained no credential: `upstream_auth`. */
  error_kind: ToolErrorKind | null;
}

/** Records the steps of one execution. Of requests and responses, they contain only times, statuses and errors. */
export interface StepLog {
  /** The steps so far, oldest first; at most `STORED.executionSteps`. */
  readonly steps: readonly ExecutionStep[];
  /** Sends a request, and records it with the status or the failure. */
  request<T extends { status: number }>(send: () => Promise<T>): Promise<T>;
  wait(wait: () => Promise<void>): Promise<void>;
  /**
   * Records work on the credential, if it is a refresh.
   *
   * @param wasObtained returns whether a new credential was obtained; undefined if nothing was refreshed
   */
  refresh<T>(work: () => Promise<T>, wasObtained: (result: T) => boolean | undefined): Promise<T>;
}

/**
 * Returns the first `STORED.bareExecutionSteps` steps as JSON, for the record of an execution. Returns undefined if
 * there are no steps. A single step is only returned if it is a refresh, because the record itself contains the status
 * and duration of a single request.
 */
export function recordedSteps(steps: readonly ExecutionStep[]): string | undefined {
  if (steps.length < 2 && steps[0]?.kind !== 'REFRESH') return undefined;
  return JSON.stringify(steps.slice(0, STORED.bareExecutionSteps));
}

/** @param now milliseconds UTC */
export function createStepLog(now: () => number): StepLog {
  const steps: ExecutionStep[] = [];

  function add(kind: ExecutionStep['kind'], startedAt: number, outcome: Partial<ExecutionStep> = {}): void {
    if (steps.length >= STORED.executionSteps) return;
    const facts = { started_at: rfc3339(startedAt), duration_ms: now() - startedAt };
    steps.push({ kind, ...facts, upstream_status: null, error_kind: null, ...outcome });
  }

  return {
    steps,
    async request(send) {
      const startedAt = now();
      try {
        const response = await send();
        add('REQUEST', startedAt, { upstream_status: response.status });
        return response;
      } catch (error) {
        if (isSendFailure(error)) add('REQUEST', startedAt, { error_kind: KIND_OF_FAILURE[error.kind] });
        throw error;
      }
    },
    async wait(wait) {
      const startedAt = now();
      await wait();
      add('WAIT', startedAt);
    },
    async refresh(work, wasObtained) {
      const startedAt = now();
      const result = await work();
      const obtained = wasObtained(result);
      if (obtained !== undefined) add('REFRESH', startedAt, { error_kind: obtained ? null : 'upstream_auth' });
      return result;
    },
  };
}
