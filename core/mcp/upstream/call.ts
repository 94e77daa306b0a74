import type { CallToolResult } from '@modelcontextprotocol/client';
import { baseUrlOf } from '../../connectors/base-url.ts';
import { type Credential, placeCredential } from '../../connectors/placement.ts';
import type { DryRunRequest, PreparedCall } from '../../tools/call.ts';
import type { ExecutePorts } from '../../tools/execute.ts';
import type { ToolOutcome } from '../../tools/outcome.ts';
import { shrinkToFit } from '../../tools/shrink.ts';
import { REQUEST_MS, withUpstream } from './connect.ts';
import { upstreamFailure } from './failure.ts';
import { createUpstreamFetch } from './upstream-fetch.ts';

/** What an answer may hold, in bytes of JSON, as for every tool. */
const MAX_DATA_BYTES = 80 * 1024;
const MAX_ERROR_CHARS = 500;

type Ports = Pick<ExecutePorts, 'credential' | 'refresh' | 'send' | 'scrubber'>;

/**
 * Calls a tool of an MCP server with an account: at most twice, the second time with a newer credential when the server refused the
 * first. The outcome is that of any other tool.
 *
 * @returns free of every secret that was used (threat E5)
 */
export async function callUpstreamTool(call: PreparedCall, ports: Ports): Promise<ToolOutcome> {
  const secrets: string[] = [];
  const first = await attempt(call, await ports.credential(), ports, secrets);
  if (first.ok || first.error.kind !== 'upstream_auth' || secrets.length === 0) return first;
  const newer = await ports.refresh();
  return newer === null ? first : attempt(call, newer, ports, secrets);
}

/** What a call would send, with its credential masked; nothing is sent. */
export function previewUpstreamCall(
  { tool, provider, pattern, account, input }: PreparedCall,
  credential: Credential,
): DryRunRequest {
  const { parts } = placeCredential(pattern, credential);
  const url = new URL(baseUrlOf(provider, account));
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const { in: place, name, masked } of parts) {
    if (place === 'query') url.searchParams.set(name, masked);
    else headers[name.toLowerCase()] = masked;
  }
  const params = { name: tool.mcp?.name, arguments: input };
  return { method: 'POST', url: url.href, headers, body: { jsonrpc: '2.0', method: 'tools/call', params } };
}

async function attempt(
  { tool, provider, pattern, account, input }: PreparedCall,
  credential: Credential,
  ports: Ports,
  secrets: string[],
): Promise<ToolOutcome> {
  const placed = placeCredential(pattern, credential);
  secrets.push(...placed.secrets);
  const wire = createUpstreamFetch((request) => ports.send(request, REQUEST_MS), placed.parts);
  try {
    const result = await withUpstream(new URL(baseUrlOf(provider, account)), wire, (client) =>
      client.callTool({ name: tool.mcp?.name as string, arguments: { ...input } }, { timeout: REQUEST_MS }),
    );
    return ports.scrubber(secrets)(readResult(result as CallToolResult));
  } catch (error) {
    return { ok: false, ...ports.scrubber(secrets)(upstreamFailure(error, wire, tool.hints.idempotent)) };
  }
}

/** What a server answers as data is the data; what it answers for people to read stays as it is. */
function readResult({ structuredContent, content, isError }: CallToolResult): ToolOutcome {
  if (isError) {
    const words = content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' ');
    const message = `The tool failed: ${words.slice(0, MAX_ERROR_CHARS).toWellFormed() || 'it does not say why'}`;
    const { value: upstreamBody } = shrinkToFit(structuredContent ?? content, MAX_DATA_BYTES / 10, false);
    return { ok: false, sent: true, error: { kind: 'upstream_bad_request', retryable: false, message, upstreamBody } };
  }
  const { value: data, truncated } = shrinkToFit(structuredContent ?? { content }, MAX_DATA_BYTES, false);
  return { ok: true, data, upstreamStatus: 200, ...(truncated && { truncated }) };
}
