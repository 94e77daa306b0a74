import type { EnvironmentId } from '../environment-id.ts';

export type ExecutionStatus = 'STARTED' | 'SUCCEEDED' | 'FAILED' | 'UNKNOWN';

export interface ExecutionRow {
  /** The position in the order of starts, assigned by the database. */
  seq: number;
  id: string;
  environmentId: EnvironmentId;
  accountId: string | null;
  connector: string;
  toolName: string;
  agentRunId: string | null;
  apiClientId: string;
  /** The number of the instance that runs it. */
  instance: number;
  status: ExecutionStatus;
  errorKind: string | null;
  upstreamStatus: number | null;
  startedAt: number;
  finishedAt: number | null;
  /** The steps as JSON, without the contents of their requests and responses; null for an execution with one step. */
  steps: string | null;
}

/** The columns that the caller sets when it records an execution, before the first request is sent. */
export type NewExecution = Pick<
  ExecutionRow,
  'id' | 'accountId' | 'connector' | 'toolName' | 'agentRunId' | 'apiClientId' | 'instance' | 'startedAt'
>;

/** The versions of the rows that a call was planned with. If one of them has changed, the plan is outdated. */
export interface PlanVersions {
  accountVersion: number;
  connectionId: string;
  connectionVersion: number;
  /** The custom provider; null for a built-in connector. */
  provider: string | null;
  providerVersion: number | null;
  /** The name of the environment's tool; null for a tool of the catalogue, and for a raw call. */
  ownTool: string | null;
  contentHash: string | null;
  /**
   * The result of `Store.planChanges`, from before the rows were read. If `planChanges` still returns this number, the
   * versions are not compared; null or omitted to compare them always.
   */
  asOf?: number | null | undefined;
}

export interface ExecutionOutcome {
  status: Exclude<ExecutionStatus, 'STARTED'>;
  errorKind?: string | null;
  upstreamStatus?: number | null;
  finishedAt: number;
  steps?: string | null;
}

export interface ExecutionFilters {
  agentRunId?: string;
  accountId?: string;
  toolName?: string;
  connector?: string;
  status?: ExecutionStatus;
  errorKind?: string;
  apiClientId?: string;
  /** Milliseconds UTC; `startedFrom` is inclusive, `startedBefore` is exclusive. */
  startedFrom?: number;
  startedBefore?: number;
}
