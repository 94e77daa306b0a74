import type { ConnectionRow } from '../../../db/store.ts';
import { MCP_UPSTREAM } from '../../budgets.ts';

/** Returns the maximum time without a message from the server in calls of a connection, in milliseconds. */
export function silenceMsOf({ mcpTimeoutSeconds }: Pick<ConnectionRow, 'mcpTimeoutSeconds'>): number {
  return mcpTimeoutSeconds === null ? MCP_UPSTREAM.callMs : mcpTimeoutSeconds * 1000;
}
