import { TOOL_RESULT } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import type { PreparedCall } from './call.ts';
import { type ExecutePorts, executeTool } from './execute.ts';
import type { ToolOutcome } from './outcome.ts';
import { atPointer } from './pointer.ts';
import { headerOf, type ResponseHeaders } from './response-headers.ts';
import { listedHeaders } from './step-headers.ts';
import { callWith, type Values } from './step-request.ts';
import type { ToolStep } from './tool.ts';
import type { UpstreamResponse } from './wire.ts';

/** The previous response, from which a step takes values. */
interface Taken {
  headers: ResponseHeaders;
  body: unknown;
}

/**
 * Executes a call with all steps (further requests) of its tool, within one deadline. Each step takes values from the
 * previous response, and can also use values that earlier steps took. If a taken value is the address of the step, the
 * step is sent only to the hosts that the step lists, and without the credential: the address itself grants access, for
 * example a presigned address for an upload.
 *
 * @returns the result of the last request, or the error of the first request that failed or could not be built
 * @throws ApiError as `executeTool`, for the first request
 */
export function executeSteps(call: PreparedCall, ports: ExecutePorts): Promise<ToolOutcome> {
  const { steps = [] } = call.tool.request;
  return steps.length === 0 ? executeTool(call, ports) : executeEach(steps, call, ports);
}

async function executeEach(steps: readonly ToolStep[], call: PreparedCall, ports: ExecutePorts): Promise<ToolOutcome> {
  const startedAt = ports.now();
  const taken: Values = {};
  let current = call;
  for (let number = 0; ; number++) {
    const next = steps[number];
    const { outcome, headers } = await request(current, next, ports, startedAt).catch((error: unknown) => {
      if (number === 0 || !(error instanceof ApiError)) throw error;
      return { outcome: withoutCredential(error), headers: {} };
    });
    if (!outcome.ok) return number === 0 ? outcome : afterEarlier(outcome, call);
    if (next === undefined) return outcome;
    const values = takeValues(next, { headers, body: outcome.data });
    if (typeof values === 'string') return invalid(values, outcome.upstreamStatus);
    const listed = listedHeaders(next, outcome.data);
    if (typeof listed === 'string') return invalid(listed, outcome.upstreamStatus);
    Object.assign(taken, values);
    const step = callWith(taken, call, next, number === steps.length - 1, listed);
    if (typeof step === 'string') return invalid(step, outcome.upstreamStatus);
    current = step;
  }
}

/** Sends one request. A redirect counts as a success if the next step takes its `Location`. */
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

/**
 * Returns the failure of a request after the first one. Earlier requests were sent, so the call can only be repeated if
 * it is idempotent.
 */
function afterEarlier({ error }: ToolOutcome & { ok: false }, { tool }: PreparedCall): ToolOutcome {
  return { ok: false, error: { ...error, retryable: error.retryable && tool.hints.idempotent }, sent: true };
}

/** Returns the failure of a step that has no usable credential, for example because too many refreshes are running. */
function withoutCredential({ code, message, retryAfterMs }: ApiError): ToolOutcome & { ok: false } {
  const isBusy = code === 'SERVER_BUSY';
  const kind = isBusy ? 'service_busy' : 'upstream_auth';
  const wait = typeof retryAfterMs === 'number' && { retryAfterMs };
  return { ok: false, error: { kind, retryable: isBusy, ...wait, message, refreshFailed: true }, sent: false };
}

function isRedirect({ status, headers }: UpstreamResponse): boolean {
  return status >= 300 && status < 400 && headerOf(headers, 'location') !== undefined;
}

/**
 * Returns the values that a step takes from the previous response, or an error message if one is missing, empty, or
 * neither a string nor a whole number.
 */
function takeValues({ take }: ToolStep, { headers, body }: Taken): Values | string {
  const values: Values = {};
  for (const [name, place] of Object.entries(take)) {
    const value = place.startsWith('/') ? atPointer(body, place) : headerOf(headers, place);
    if ((typeof value !== 'string' || value === '') && !Number.isSafeInteger(value)) {
      return `The response of the provider has no ${place}, which the next request needs.`;
    }
    values[name] = value as string | number;
  }
  return values;
}

function invalid(message: string, upstreamStatus: number): ToolOutcome {
  return {
    ok: false,
    error: { kind: 'upstream_invalid_response', retryable: false, upstreamStatus, message },
    sent: true,
  };
}
