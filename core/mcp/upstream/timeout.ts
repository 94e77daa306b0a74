import type { ConnectionRow } from '../../../db/store.ts';
import { MCP_UPSTREAM } from '../../budgets.ts';

/** How long calls of a connection may be silent, in milliseconds. */
export function silenceMsOf({ settings }: Pick<ConnectionRow, 'settings'>): number {
  const seconds = settings['mcp_timeout_seconds'];
  return typeof seconds === 'number' ? seconds * 1000 : MCP_UPSTREAM.callMs;
}
