import type { components } from '../../../generated/api.d.ts';
import type { Columns } from '../../output/table.ts';

export type Execution = components['schemas']['Execution'];

export const STATUSES = ['STARTED', 'SUCCEEDED', 'FAILED', 'UNKNOWN'] as const;

/** The columns of a table of executions. */
export const COLUMNS: Columns<Execution> = {
  EXECUTION: ({ id }) => id,
  STARTED: ({ started_at }) => started_at,
  TOOL: ({ tool_name }) => tool_name,
  STATUS: ({ status }) => status,
  ERROR: ({ error_kind, upstream_status }) => [error_kind, upstream_status].filter(Boolean).join(' '),
  MS: ({ duration_ms }) => duration_ms,
  ACCOUNT: ({ connected_account_id }) => connected_account_id,
};
