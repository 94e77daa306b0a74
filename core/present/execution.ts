import type { ExecutionRow } from '../../db/store.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import { EMPTY, optionalTime } from './optional.ts';
import type { Schemas } from './schemas.ts';

/** Returns the recorded steps; an empty list if none were recorded, as for an execution of a single request. */
export function presentSteps({ steps }: ExecutionRow): Schemas['ExecutionStep'][] {
  return steps === null ? [] : (JSON.parse(steps) as Schemas['ExecutionStep'][]);
}

export function presentExecution(row: ExecutionRow): Schemas['Execution'] {
  return {
    id: row.id,
    connected_account_id: row.accountId ?? EMPTY,
    connector: row.connector,
    tool_name: row.toolName,
    agent_run_id: row.agentRunId,
    api_client_id: row.apiClientId,
    status: row.status,
    error_kind: row.errorKind as Schemas['ToolErrorKind'] | null,
    upstream_status: row.upstreamStatus,
    started_at: rfc3339(row.startedAt),
    finished_at: optionalTime(row.finishedAt),
    duration_ms: row.finishedAt === null ? null : row.finishedAt - row.startedAt,
  };
}
