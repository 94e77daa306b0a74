import type { CallToolResult } from '@modelcontextprotocol/server';
import { callTool } from './call-tool.ts';
import type { DirectCall } from './direct-call.ts';
import { meantCall } from './finder-tools.ts';
import type { McpSession } from './session.ts';
import type { ToolServerDeps } from './tool-server-deps.ts';

/**
 * Runs a `tools/call` without the MCP SDK.
 *
 * @param signal aborted when the client cancels the call or disconnects
 * @returns undefined if the MCP SDK must serve the call: the tool is unknown, the user must open a link, or the client
 * wants progress and the tool belongs to a third-party MCP server. The call had no effect then: it was not sent, or the
 * provider rejected it because of missing scopes.
 */
export async function serveDirectCall(
  deps: ToolServerDeps,
  session: McpSession,
  { name, input, wantsProgress }: DirectCall,
  signal: AbortSignal,
): Promise<CallToolResult | undefined> {
  const meant = await meantCall(deps, session, name, input);
  if (meant?.kind === 'result') return meant.result;
  if (!meant || (wantsProgress && meant.offered.tool.mcp)) return undefined;
  const { offered, input: toolInput } = meant;
  const call = { offered, toolInput, earlierLink: null, watch: { signal }, leavesLinks: true };
  const response = await callTool(deps, session, call);
  return response.kind === 'result' ? response.result : undefined;
}
