import { ApiError } from '../errors.ts';
import type { PreparedCall } from './call.ts';
import { draftRequest } from './request-draft.ts';
import type { ToolStep } from './tool.ts';
import { isWithinHost } from './url.ts';

/** The maximum length of an address in a response, in characters. Presigned addresses of storage services are long. */
const MAX_ADDRESS = 8_192;

/** Values from responses, by the names that the next requests use. */
export type Values = Record<string, string | number>;

/**
 * Builds the requests of all steps with example values in place of the values of responses, which are not known before
 * the first request. So invalid input is rejected before anything is sent.
 *
 * @throws ApiError INVALID_TOOL_INPUT naming an input of the caller; the other errors of `draftRequest`
 */
export function checkLaterRequests(call: PreparedCall): void {
  const { steps = [] } = call.tool.request;
  const examples: Values = {};
  for (const [number, step] of steps.entries()) {
    Object.assign(examples, exampleValues(step));
    try {
      callOfStep({ ...call, input: { ...call.input, ...examples } }, step, number === steps.length - 1);
    } catch (error) {
      const name = inputOf(error);
      // The value of the response may be allowed where its example is not.
      const isOfExample = name === '' || (name !== undefined && Object.hasOwn(examples, name));
      if (!isOfExample) throw error;
    }
  }
}

/** Returns example values for those that a step takes from a response: an allowed address, otherwise their names. */
export function exampleValues({ take, address, hosts = [] }: ToolStep): Record<string, string> {
  const names = Object.keys(take);
  return Object.fromEntries(names.map((name) => [name, name === address ? `https://${hosts[0]}/${name}` : name]));
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
export function callWith(
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
