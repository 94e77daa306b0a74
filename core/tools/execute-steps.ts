import { TOOL_RESULT } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import type { PreparedCall } from './call.ts';
import { type ExecutePorts, executeTool } from './execute.ts';
import type { ToolOutcome } from './outcome.ts';
import { atPointer } from './pointer.ts';
import { draftRequest } from './request-draft.ts';
import { headerOf, type ResponseHeaders } from './response-headers.ts';
import { listedHeaders } from './step-headers.ts';
import type { ToolStep } from './tool.ts';
import { isWithinHost } from './url.ts';
import type { UpstreamResponse } from './wire.ts';

/** The maximum length of an address in a response, in characters. Presigned addresses of storage services are long. */
const MAX_ADDRESS = 8_192;

/** The previous response, from which a step takes values. */
interface Taken {
  headers: ResponseHeaders;
  body: unknown;
}

/** Values from responses, by the names that the next requests use. */
type Values = Record<string, string | number>;

/**
 * Executes a call with all steps (further requests) of its tool, within one deadline. Each step takes values from the
 * previous response, and can also use values that earlier steps took. If a taken value is the address of the step, the
 * step is sent only to the hosts that the step lists, and without the credential: the address itself grants access, for
 * example a presigned address for an upload.
 *
 * @returns the result of the last request, or the error of the first request that failed or could not be built
 * @throws ApiError as `executeTool`, for the first request; INVALID_TOOL_INPUT, before anything is sent, if a later
 * request cannot contain the input
 */
export function executeSteps(call: PreparedCall, ports: ExecutePorts): Promise<ToolOutcome> {
  const { steps = [] } = call.tool.request;
  return steps.length === 0 ? executeTool(call, ports) : executeEach(steps, call, ports);
}

async function executeEach(steps: readonly ToolStep[], call: PreparedCall, ports: ExecutePorts): Promise<ToolOutcome> {
  const startedAt = ports.now();
  checkLaterRequests(steps, call);
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

/**
 * Builds the requests of all steps with example values in place of the values of responses, which are not known before
 * the first request. So invalid input is rejected before anything is sent.
 *
 * @throws ApiError INVALID_TOOL_INPUT naming an input of the caller; the other errors of `draftRequest`
 */
function checkLaterRequests(steps: readonly ToolStep[], call: PreparedCall): void {
  const examples: Values = {};
  for (const [number, step] of steps.entries()) {
    for (const name of Object.keys(step.take)) {
      examples[name] = name === step.address ? `https://${step.hosts?.[0]}/` : 'x';
    }
    try {
      callOfStep({ ...call, input: { ...call.input, ...examples } }, step, number === steps.length - 1);
    } catch (error) {
      const name = inputOf(error);
      const isExample = name !== undefined && (Object.hasOwn(examples, name) || !Object.hasOwn(call.input, name));
      if (!isExample) throw error;
    }
  }
}

/**
 * Returns the name of the input that an error rejects, or an empty text if the error names none. Returns undefined for
 * any error other than INVALID_TOOL_INPUT.
 */
function inputOf(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.code !== 'INVALID_TOOL_INPUT') return undefined;
  return /^tool_input\.([^.[\]]+)/.exec(error.errors?.[0]?.field ?? '')?.[1] ?? '';
}

/** Returns the call of a step with the values taken from responses, or an error message if one of them cannot be used. */
function callWith(
  taken: Values,
  call: PreparedCall,
  step: ToolStep,
  isLast: boolean,
  listed: Record<string, string>,
): PreparedCall | string {
  try {
    return callOfStep({ ...call, input: { ...call.input, ...taken } }, step, isLast, listed);
  } catch (error) {
    const name = inputOf(error);
    if (name === undefined) throw error;
    const { message = '' } = (error as ApiError).errors?.[0] ?? {};
    return `The next request cannot contain a value of the provider's response: ${name || 'it'} ${message}.`;
  }
}

/**
 * Returns the call of a step, or an error message if its address is not allowed.
 *
 * @param call the call of the tool, whose input includes the values that steps have taken
 * @param isLast whether the result of the tool is the response to this step
 * @param listed the headers that the previous response lists for the address, with names in lower case
 * @throws ApiError as `draftRequest`
 */
export function callOfStep(
  call: PreparedCall,
  step: ToolStep,
  isLast: boolean,
  listed: Readonly<Record<string, string>> = {},
): PreparedCall | string {
  const { tool, provider, input } = call;
  const { take: _take, headers_from: _from, address, hosts = [], path = '/', ...request } = step;
  const { response: _response, ...bare } = tool;
  const stepTool = { ...(isLast ? tool : bare), request: { ...request, path } };
  if (address === undefined) {
    const facts = { ...call, tool: stepTool };
    return { ...facts, draft: draftRequest(facts) };
  }
  const url = addressOf(String(input[address]), hosts);
  if (url === undefined) return `The response of the provider names an address outside of ${hosts.join(', ')}.`;
  // The settings of the provider's own API do not apply to another host.
  const { headers: _headers, idempotency_header: _header, ...api } = provider.api;
  const facts = { ...call, tool: stepTool, provider: { ...provider, api } };
  const own = draftRequest(facts);
  const { 'content-type': type, ...others } = listed;
  const draft = {
    ...own,
    address: url.origin + url.pathname,
    query: url.search.slice(1),
    headers: { ...own.headers, ...others },
    body: own.body && { ...own.body, type: type ?? own.body.type },
  };
  return { ...facts, draft, withoutCredential: true };
}

/**
 * Returns an address if it is an https URL on the default port, without credentials, and its host is one of the hosts
 * or a subdomain of one. Returns undefined for any other address.
 */
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
