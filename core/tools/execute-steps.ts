import { TOOL_RESULT } from '../budgets.ts';
import type { PreparedCall } from './call.ts';
import { type ExecutePorts, executeTool } from './execute.ts';
import type { ToolOutcome } from './outcome.ts';
import { atPointer } from './pointer.ts';
import { draftRequest } from './request-draft.ts';
import { headerOf, type ResponseHeaders } from './response-headers.ts';
import type { ToolStep } from './tool.ts';
import { isWithinHost } from './url.ts';
import type { UpstreamResponse } from './wire.ts';

/** An address in a response may be this long: signed addresses of storages are long. */
const MAX_ADDRESS = 8_192;

/** The response before a step, from which the step takes values. */
interface Taken {
  headers: ResponseHeaders;
  body: unknown;
}

/**
 * Executes a call with all steps of its tool, within one deadline. Each step can use values that it takes from the
 * response before it. A step whose address is such a value is sent to the hosts that it names only, and without the
 * credential, because the address is its own permission.
 *
 * @returns the result of the last request, or the error of the first one that failed
 * @throws ApiError as `executeTool`
 */
export async function executeSteps(call: PreparedCall, ports: ExecutePorts): Promise<ToolOutcome> {
  const { steps = [] } = call.tool.request;
  if (steps.length === 0) return await executeTool(call, ports);
  const startedAt = ports.now();
  let input = call.input;
  let current = call;
  for (let number = 0; ; number++) {
    const next = steps[number];
    const { outcome, headers } = await request(current, next, ports, startedAt);
    if (!outcome.ok || next === undefined) return outcome;
    const values = takeValues(next, { headers, body: outcome.data });
    if (typeof values === 'string') return invalid(values, outcome.upstreamStatus);
    input = { ...input, ...values };
    const step = callOfStep({ ...call, input }, next, number === steps.length - 1);
    if (typeof step === 'string') return invalid(step, outcome.upstreamStatus);
    current = step;
  }
}

/** Sends one request. A redirect that the next step follows is a success. */
async function request(
  call: PreparedCall,
  next: ToolStep | undefined,
  ports: ExecutePorts,
  startedAt: number,
): Promise<{ outcome: ToolOutcome; headers: ResponseHeaders }> {
  let headers: ResponseHeaders = {};
  const followsRedirect = Object.values(next?.take ?? {}).includes('location');
  const read: ExecutePorts['read'] = async (page, response, secrets, hidden) => {
    headers = response.headers;
    if (followsRedirect && isRedirect(response)) return { ok: true, data: null, upstreamStatus: response.status };
    return await ports.read(page, response, secrets, hidden);
  };
  const { pagination: _pagination, response: _response, ...bare } = call.tool;
  // Values are taken from the whole response, not from the part that callers see.
  const whole = next ? { ...call, tool: { ...bare, response: { max_bytes: TOOL_RESULT.dataBytes } } } : call;
  const outcome = await executeTool(whole, { ...ports, read }, startedAt);
  return { outcome, headers };
}

function isRedirect({ status, headers }: UpstreamResponse): boolean {
  return status >= 300 && status < 400 && headerOf(headers, 'location') !== undefined;
}

/** Returns the values of a step, or what is missing. */
function takeValues({ take }: ToolStep, { headers, body }: Taken): Record<string, string | number> | string {
  const values: Record<string, string | number> = {};
  for (const [name, place] of Object.entries(take)) {
    const value = place.startsWith('/') ? atPointer(body, place) : headerOf(headers, place);
    if ((typeof value !== 'string' || value === '') && !Number.isSafeInteger(value)) {
      return `The response of the provider has no ${place}, which the next request needs.`;
    }
    values[name] = value as string | number;
  }
  return values;
}

/**
 * Returns the call of a step, or why its address is refused.
 *
 * @param call the call of the tool, whose input includes the values that steps have taken
 * @param isLast whether the result of the tool is the response to this step
 */
export function callOfStep(call: PreparedCall, step: ToolStep, isLast: boolean): PreparedCall | string {
  const { tool, provider, input } = call;
  const { take: _take, address, hosts = [], path = '/', ...request } = step;
  const { response: _response, ...bare } = tool;
  const stepTool = { ...(isLast ? tool : bare), request: { ...request, path } };
  if (address === undefined) return { ...call, tool: stepTool, draft: undefined };
  const url = addressOf(String(input[address]), hosts);
  if (url === undefined) return `The response of the provider names an address outside of ${hosts.join(', ')}.`;
  // The settings of the provider's own API do not apply to another host.
  const { headers: _headers, idempotency_header: _header, ...api } = provider.api;
  const facts = { ...call, tool: stepTool, provider: { ...provider, api } };
  const draft = { ...draftRequest(facts), address: url.origin + url.pathname, query: url.search.slice(1) };
  return { ...facts, draft, withoutCredential: true };
}

/** Returns an address if it belongs to one of the hosts, or to a subdomain of one. */
function addressOf(text: string, hosts: readonly string[]): URL | undefined {
  const url = text.length <= MAX_ADDRESS ? URL.parse(text) : null;
  if (url?.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '') return undefined;
  return hosts.some((host) => isWithinHost(url.hostname, host)) ? url : undefined;
}

function invalid(message: string, upstreamStatus: number): ToolOutcome {
  return {
    ok: false,
    error: { kind: 'upstream_invalid_response', retryable: false, upstreamStatus, message },
    sent: true,
  };
}
