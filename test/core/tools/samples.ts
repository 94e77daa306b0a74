import type { AuthPattern } from '../../../core/connectors/auth-pattern.ts';
import type { Credential } from '../../../core/connectors/credential.ts';
import type { ProviderDefinition } from '../../../core/connectors/provider.ts';
import { createScrubber } from '../../../core/net/redact.ts';
import { Secret } from '../../../core/secret.ts';
import { type PreparedCall, prepareCall, type ToolCall } from '../../../core/tools/call.ts';
import type { ExecutePorts } from '../../../core/tools/execute.ts';
import { createInputChecker } from '../../../core/tools/input.ts';
import { readResponse } from '../../../core/tools/read-response.ts';
import type { Tool } from '../../../core/tools/tool.ts';
import type { OutboundRequest, UpstreamResponse } from '../../../core/tools/wire.ts';

export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
export const TOKEN = 'tok_4f9c2b7e81d0';
export const BEARER: AuthPattern = { type: 'BEARER_TOKEN' };

export function toolOf(parts: Partial<Tool> = {}): Tool {
  return {
    connector: 'acme',
    name: 'acme_get_thing',
    title: 'Get a thing',
    description: 'Gets a thing.',
    tags: ['things'],
    hints: { read_only: true, destructive: false, idempotent: true, open_world: false },
    scopes: [],
    input_schema: { type: 'object', additionalProperties: true },
    output_schema: {},
    examples: [],
    request: { method: 'GET', path: '/things' },
    ...parts,
  };
}

/** A tool that writes; it is not idempotent. */
export function writingTool(parts: Partial<Tool> = {}): Tool {
  return toolOf({
    name: 'acme_make_thing',
    hints: { read_only: false, destructive: false, idempotent: false, open_world: false },
    request: { method: 'POST', path: '/things', body: { format: 'json', value: { name: { $input: 'name' } } } },
    ...parts,
  });
}

export function providerOf(parts: Partial<ProviderDefinition> = {}): ProviderDefinition {
  return {
    identifier: 'acme',
    displayName: 'Acme',
    isCustom: false,
    api: { base_url: 'https://api.acme.example/v1' },
    authPatterns: [BEARER],
    proxyEnabled: false,
    ...parts,
  };
}

export function tokenCredential(token = TOKEN): Credential {
  return { kind: 'static', details: { token: new Secret(token) } };
}

const checker = createInputChecker();

export function callOf(parts: Partial<ToolCall> = {}): ToolCall {
  const call = { tool: toolOf(), provider: providerOf(), pattern: BEARER, account: {}, toolInput: {} };
  return { ...call, executionId: 'exec_1', ...parts };
}

export function prepared(parts: Partial<ToolCall> = {}): PreparedCall {
  return prepareCall(callOf(parts), checker);
}

/**
 * Returns ports that respond from a list, in order, and record the requests. A list item that is not a response is
 * thrown.
 */
export function portsOf(
  answers: unknown[],
  parts: Partial<ExecutePorts> = {},
): ExecutePorts & { sent: OutboundRequest[]; refreshes: () => number; waits: number[] } {
  const sent: OutboundRequest[] = [];
  const waits: number[] = [];
  let refreshes = 0;
  return {
    sent,
    refreshes: () => refreshes,
    send: async (request) => {
      sent.push(request);
      const next = answers.shift();
      if (typeof next === 'object' && next !== null && 'status' in next) return next as UpstreamResponse;
      throw next ?? new Error('More requests than answers');
    },
    credential: async () => tokenCredential(),
    read: async (call, response, secrets, hidden) =>
      readResponse(call, response, { scrub: createScrubber(secrets), now: () => NOW, hidden }),
    scrubber: createScrubber,
    now: () => NOW,
    waits,
    wait: async (ms) => void waits.push(ms),
    random: (size) => Buffer.alloc(size, 0xff),
    ...parts,
    refresh: async () => {
      refreshes++;
      return parts.refresh ? parts.refresh() : null;
    },
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): UpstreamResponse {
  const bytes = Buffer.from(JSON.stringify(body));
  return { status, headers: { 'content-type': 'application/json; charset=utf-8', ...headers }, body: bytes };
}

export function raw(status: number, contentType: string | undefined, body: Buffer | string): UpstreamResponse {
  return { status, headers: { 'content-type': contentType }, body: Buffer.from(body) };
}

/** Runs a function that must fail with an ApiError, and returns its code and invalid fields. */
export function failureOf(run: () => unknown): { code: string; fields: string[] } {
  try {
    run();
  } catch (error) {
    const { code, errors = [] } = error as { code: string; errors?: { field: string }[] };
    return { code, fields: errors.map(({ field }) => field) };
  }
  throw new Error('Nothing was thrown');
}
