import type { EnvironmentId } from '../environment-id.ts';

export type ExecutionStatus = 'STARTED' | 'SUCCEEDED' | 'FAILED' | 'UNKNOWN';

export interface ExecutionRow {
  /** The place in the order of starts. The database assigns it. */
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
}

/** An execution that is about to be sent. */
export type NewExecution = Pick<
  ExecutionRow,
  'id' | 'accountId' | 'connector' | 'toolName' | 'agentRunId' | 'apiClientId' | 'instance' | 'startedAt'
>;

export interface ExecutionOutcome {
  status: Exclude<ExecutionStatus, 'STARTED'>;
  errorKind?: string | null;
  upstreamStatus?: number | null;
  finishedAt: number;
}

export interface ExecutionFilters {
  agentRunId?: string;
  accountId?: string;
  toolName?: string;
  connector?: string;
  status?: ExecutionStatus;
  /** Milliseconds UTC: at or after, and before. */
  startedFrom?: number;
  startedBefore?: number;
}
