import type { Progress } from '@modelcontextprotocol/client';
import { MCP_UPSTREAM } from '../../budgets.ts';
import { baseUrlOf } from '../../connectors/base-url.ts';
import type { Credential } from '../../connectors/credential.ts';
import { placeCredential } from '../../connectors/placement.ts';
import type { DryRunRequest, PreparedCall } from '../../tools/call.ts';
import type { ExecutePorts } from '../../tools/execute.ts';
import type { ToolOutcome } from '../../tools/outcome.ts';
import { type Tool, wholeInputSchema } from '../../tools/tool.ts';
import { upstreamFailure } from './failure.ts';
import { headersOf } from './schema/header-parameters.ts';
import { toWireInput } from './schema/wire-input.ts';
import type { UpstreamPlace, UpstreamSessions } from './sessions.ts';

/** Lets a caller cancel a running call and follow its progress. */
export interface CallWatch {
  /** Aborted when the caller no longer wants the result; the server is then notified. */
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

export interface UpstreamPorts extends Pick<ExecutePorts, 'credential' | 'refresh' | 'scrubber' | 'now'> {
  sessions: Pick<UpstreamSessions, 'request'>;
  environmentId: string;
  accountId: string;
  /** Sends only to the origins of the account. */
  stream: UpstreamPlace['stream'];
  hold: UpstreamPlace['hold'];
  sendTraceContext: UpstreamPlace['sendTraceContext'];
  /** The maximum time without a message from the server, in milliseconds. */
  silenceMs: number;
  watch: CallWatch;
}

/**
 * Calls a tool of an MCP server with an account. If the server rejects the credential and it can be refreshed, the call
 * is sent once more with the new credential. The outcome has the same form as that of any other tool.
 *
 * @returns an outcome without any secret that was used (threat E5)
 */
export async function callUpstreamTool(call: PreparedCall, ports: UpstreamPorts): Promise<ToolOutcome> {
  const secrets: string[] = [];
  const first = await attempt(call, await ports.credential(), ports, secrets);
  if (first.ok || first.error.kind !== 'upstream_auth' || secrets.length === 0) return first;
  const newer = await ports.refresh();
  return newer === null ? first : attempt(call, newer, ports, secrets);
}

/** Returns the request of a call with its credential masked. Nothing is sent. */
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
  const params = { name: tool.mcp?.name, arguments: wireInput(tool, input) };
  return { method: 'POST', url: url.href, headers, body: { jsonrpc: '2.0', method: 'tools/call', params } };
}

async function attempt(
  { tool, provider, pattern, account, input }: PreparedCall,
  credential: Credential,
  ports: UpstreamPorts,
  secrets: string[],
): Promise<ToolOutcome> {
  const placed = placeCredential(pattern, credential);
  // Collects the secrets of both attempts, because a late response could still contain the first credential.
  secrets.push(...placed.secrets);
  const { environmentId, accountId, stream, hold, sendTraceContext, silenceMs, watch } = ports;
  const place = {
    environmentId,
    accountId,
    url: new URL(baseUrlOf(provider, account)),
    credential: placed.parts,
    secrets,
    stream,
    hold,
    sendTraceContext,
  };
  const theirs = wireInput(tool, input);
  const params = { name: tool.mcp?.name as string, arguments: theirs };
  const headers = headersOf(tool.mcp?.headers ?? [], theirs);
  const limits = { silenceMs, bytes: MCP_UPSTREAM.responseBytes };
  try {
    const request = { method: 'tools/call' as const, params, headers, ...limits, ...watch };
    return await ports.sessions.request(place, request);
  } catch (error) {
    const failure = upstreamFailure(error, tool.hints.idempotent, ports.now());
    return { ok: false, ...ports.scrubber(secrets)(failure) };
  }
}

function wireInput(tool: Tool, input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return toWireInput(input, wholeInputSchema(tool), tool.mcp?.names ?? {});
}
