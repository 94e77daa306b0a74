import { type AccountInputs, baseUrlOf } from '../connectors/base-url.ts';
import { isCallerHeader } from '../connectors/header-names.ts';
import type { PlacedCredential, PlacedPart } from '../connectors/placement.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { MASK } from '../secret.ts';
import { renderBody } from './body.ts';
import { ABSENT, inputNameOf, renderTemplate, type TemplateScope } from './body-template.ts';
import type { StoredFiles } from './file-input.ts';
import { encodePairs } from './form.ts';
import { inputProblem } from './input-problem.ts';
import { type CursorValue, withParameter } from './pagination.ts';
import { headerText, queryPairs } from './parameter-style.ts';
import { isRecord } from './pointer.ts';
import { encodeUnreserved } from './template.ts';
import type { Tool } from './tool.ts';
import { type PathTemplate, parsePathTemplate, type RenderedUrl, renderUrl } from './url.ts';

/** What one call says, without its credential. */
export interface RequestFacts {
  tool: Tool;
  provider: ProviderDefinition;
  account: AccountInputs;
  /** Checked, defaults filled in. */
  input: Readonly<Record<string, unknown>>;
  /** The place of the page that was asked for. */
  at?: CursorValue;
  /** Fills the provider's idempotency header on calls that are not idempotent by themselves. */
  idempotencyKey?: string;
  /** The stored files that the input names; undefined while the call is only checked. */
  files?: StoredFiles;
}

/** A request that is ready to be sent. Header names are in lower case. */
export interface RenderedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
  /** What people see of the body. */
  preview: unknown;
  /** Texts that must not come back in the answer. */
  secrets: string[];
}

const pathTemplates = new WeakMap<Tool, PathTemplate>();

/**
 * Renders the request of a call: the tool's template, the account's base address and the placed credential.
 *
 * @param credential where the credential goes; its parts are added last and nothing can replace them
 * @param options `masked`: show what people may see of the credential instead of its value (dry run)
 * @throws ApiError INVALID_TOOL_INPUT, INVALID_API_CONFIG, PROVIDER_HAS_NO_BASE_URL
 */
export function renderRequest(
  facts: RequestFacts,
  credential: PlacedCredential,
  options: { masked?: boolean } = {},
): RenderedRequest {
  const { tool, provider, account, input } = facts;
  const scope: TemplateScope = { input, account, files: facts.files };
  const shown = (part: PlacedPart) => (options.masked ? part.masked : part.value);
  const placed = (where: PlacedPart['in']) =>
    credential.parts.filter((part) => part.in === where).map((part) => [part.name, shown(part)] as const);

  const { address, query } = renderAddress(facts, scope);
  const body = renderBody(tool, scope, facts.at, placed('body'));
  const headers: Record<string, string> = {
    accept: 'application/json',
    ...lowerCased(provider.api.headers ?? {}),
    ...toolHeaders(facts, scope, credential),
    ...idempotency(facts),
    ...(body === undefined ? {} : { 'content-type': body.type }),
    ...lowerCased(Object.fromEntries(placed('header'))),
  };
  const cookies = placed('cookie').map(([name, value]) => `${name}=${value}`);
  if (cookies.length > 0) headers['cookie'] = cookies.join('; ');

  const encode = options.masked ? encodeMasked : encodeUnreserved;
  const secretPairs = placed('query').map(([name, value]) => `${encodeUnreserved(name)}=${encode(value)}`);
  const search = [query, ...secretPairs].filter((part) => part !== '').join('&');
  return {
    method: tool.request.method,
    url: search === '' ? address : `${address}?${search}`,
    headers,
    body: body?.content,
    preview: body?.preview,
    secrets: credential.secrets,
  };
}

function renderAddress(facts: RequestFacts, scope: TemplateScope): RenderedUrl {
  const { tool, provider, account, input, at } = facts;
  const lookup = (name: string) => {
    const [values, key] = name.startsWith('account.') ? [account, name.slice('account.'.length)] : [input, name];
    return Object.hasOwn(values, key) ? values[key] : undefined;
  };
  const rendered = renderUrl(baseUrlOf(provider, account), templateOf(tool), lookup);
  let query = [rendered.query, ...extraPairs(tool, scope)].filter((part) => part !== '').join('&');
  if (at !== undefined) query = paged(tool, query, at);
  return { address: rendered.address, query };
}

function templateOf(tool: Tool): PathTemplate {
  const known = pathTemplates.get(tool) ?? parsePathTemplate(tool.request.path);
  pathTemplates.set(tool, known);
  return known;
}

function extraPairs(tool: Tool, scope: TemplateScope): string[] {
  const named = Object.entries(tool.request.query ?? {}).flatMap(([name, template]) => {
    const value = renderTemplate(template, scope);
    return value === ABSENT ? [] : encodePairs(name, value, 'repeat');
  });
  const styled = (tool.request.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .flatMap((parameter) => queryPairs(parameter, inputOf(scope, parameter.input)));
  const fromCaller = scope.input[tool.request.query_input ?? ''];
  const free = Object.entries(isRecord(fromCaller) ? fromCaller : {});
  return [...named, ...styled, ...free.flatMap(([name, value]) => encodePairs(name, value, 'repeat'))];
}

function inputOf({ input }: TemplateScope, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

function paged(tool: Tool, query: string, at: CursorValue): string {
  const { style, request } = tool.pagination ?? {};
  if (style === 'link_header' || style === 'next_url') return String(at);
  if (request?.in !== 'query') return query;
  return withParameter(query, request.name, `${encodeUnreserved(request.name)}=${encodeUnreserved(String(at))}`);
}

function toolHeaders(
  { tool }: RequestFacts,
  scope: TemplateScope,
  credential: PlacedCredential,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, template] of Object.entries(tool.request.headers ?? {})) {
    const value = renderTemplate(template, scope);
    if (value !== ABSENT) headers[name.toLowerCase()] = headerValue(value, inputNameOf(template));
  }
  for (const parameter of tool.request.parameters ?? []) {
    const value = parameter.in === 'header' ? headerText(parameter, inputOf(scope, parameter.input)) : undefined;
    if (value !== undefined) headers[parameter.name.toLowerCase()] = headerValue(value, parameter.input);
  }
  const fromCaller = scope.input[tool.request.headers_input ?? ''];
  const taken = new Set(credential.parts.filter((part) => part.in === 'header').map((part) => part.name.toLowerCase()));
  for (const [name, value] of Object.entries(isRecord(fromCaller) ? fromCaller : {})) {
    const field = `${tool.request.headers_input}.${name}`;
    if (!isCallerHeader(name) || taken.has(name.toLowerCase()))
      throw inputProblem(field, 'is a header that callers cannot set');
    headers[name.toLowerCase()] = headerValue(value, field);
  }
  return headers;
}

/** Visible ASCII and blanks only: a line break would start another header (threat E2). */
function headerValue(value: unknown, input: string | undefined): string {
  if (typeof value === 'object') throw inputProblem(input, 'must be a plain value');
  const text = String(value);
  if (!/^[\t\x20-\x7e]*$/.test(text))
    throw inputProblem(input, 'must hold visible ASCII characters only: it becomes a header');
  return text.trim();
}

/** A write that may be sent twice by accident carries a key by which the API recognises it (threat E7). */
function idempotency({ tool, provider, idempotencyKey }: RequestFacts): Record<string, string> {
  const header = provider.api.idempotency_header;
  if (header === undefined || idempotencyKey === undefined || tool.hints.idempotent) return {};
  return { [header.toLowerCase()]: idempotencyKey };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** The mask stays readable in the address of a dry run. */
function encodeMasked(value: string): string {
  return value.split(MASK).map(encodeUnreserved).join(MASK);
}
