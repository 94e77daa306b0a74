import type { Hours } from './hours.ts';

/** What executions are grouped by. */
export type StatisticGroup = 'hour' | 'tool_name' | 'connector' | 'outcome';

export interface StatisticFilters extends Hours {
  toolName?: string | undefined;
  connector?: string | undefined;
}

/** How many executions of a group ended with a status, within a duration. */
export interface StatisticRow {
  /** The hour, tool name or connector; the kind of failure if executions are grouped by outcome. */
  group: string;
  status: 'SUCCEEDED' | 'FAILED' | 'UNKNOWN';
  /** The upper bound of the duration in milliseconds; 0 for executions that took longer than all bounds. */
  upToMs: number;
  total: number;
}
