import type { ConnectionRow } from '../../../db/store.ts';
import { MCP_UPSTREAM } from '../../budgets.ts';

/** How long calls of a connection may be silent, in milliseconds. */
export function silenceMsOf({ mcpTimeoutSeconds }: Pick<ConnectionRow, 'mcpTimeoutSeconds'>): number {
  return mcpTimeoutSeconds === null ? MCP_UPSTREAM.callMs : mcpTimeoutSeconds * 1000;
}
