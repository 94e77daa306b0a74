import type { AccountInputs } from '../connectors/account-value.ts';
import { baseUrlOf } from '../connectors/base-url.ts';
import { isCallerHeader, isHeaderText } from '../connectors/header-names.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { ApiError } from '../errors.ts';
import { type RenderedBody, renderBody } from './body.ts';
import { ABSENT, inputNameOf, renderTemplate, type TemplateScope } from './body-template.ts';
import type { StoredFiles } from './file-input.ts';
import { encodePairs } from './form.ts';
import { inputProblem } from './input-problem.ts';
import { type CursorValue, nameOfPair, withParameter } from './pagination.ts';
import { headerText, queryPairs } from './parameter-style.ts';
import { isRecord } from './pointer.ts';
import { RenderBudget } from './render-budget.ts';
import { encodeUnreserved } from './template.ts';
import type { Tool } from './tool.ts';
import { checkAddressLength, type PathTemplate, parsePathTemplate, type RenderedUrl, renderUrl } from './url.ts';

/** The data of one call without its credential. */
export interface RequestFacts {
  tool: Tool;
  provider: ProviderDefinition;
  account: AccountInputs;
  /** The validated input with its defaults. */
  input: Readonly<Record<string, unknown>>;
  /** The position of the requested page; undefined for the first page. */
  at?: CursorValue;
  /** The value of the provider's idempotency header; only sent for calls that are not idempotent themselves. */
  idempotencyKey?: string;
  /** The stored files that the input names; undefined while the call is only checked. */
  files?: StoredFiles;
}

/** A request without its credential. Header names are in lower case. */
export interface RequestDraft {
  /** Base URL and path. */
  address: string;
  /** Percent-encoded, without the question mark. */
  query: string;
  /** Without Content-Type, because a request may get its body only when the credential is added. */
  headers: Readonly<Record<string, string>>;
  /** The names of the headers that the caller chose. The credential's header must not be among them. */
  callerHeaders: readonly string[];
  body: RenderedBody | undefined;
}

const pathTemplates = new WeakMap<Tool, PathTemplate>();

/**
 * Renders the request of a call without its credential, from the templates of the tool. The path is appended to the
 * tool's own `origin`, or else to the account's base URL.
 *
 * @throws ApiError INVALID_TOOL_INPUT, INVALID_API_CONFIG, PROVIDER_HAS_NO_BASE_URL
 */
export function draftRequest(facts: RequestFacts): RequestDraft {
  const scope = scopeOf(facts);
  const { address, query } = renderAddress(facts, scope);
  const body = renderBody(facts.tool, scope, facts.at, []);
  const headers: Record<string, string> = { accept: 'application/json' };
  for (const [name, value] of Object.entries(facts.provider.api.headers ?? {})) headers[name.toLowerCase()] = value;
  const callerHeaders = addToolHeaders(headers, facts.tool, scope);
  addIdempotencyKey(headers, facts);
  return { address, query, headers, callerHeaders, body };
}

/** Returns the values that the templates of a call can use. */
export function scopeOf({ input, account, files }: RequestFacts): TemplateScope {
  return { input, account, files, budget: new RenderBudget() };
}

function renderAddress(facts: RequestFacts, scope: TemplateScope): RenderedUrl {
  const { tool, provider, account, input, at } = facts;
  const lookup = (name: string) => {
    const [values, key] = name.startsWith('account.') ? [account, name.slice('account.'.length)] : [input, name];
    return Object.hasOwn(values, key) ? values[key] : undefined;
  };
  const rendered = renderUrl(tool.request.origin ?? baseUrlOf(provider, account), templateOf(tool), lookup);
  let query = withPairs(rendered.query, extraPairs(tool, scope));
  if (at !== undefined) query = paged(tool, query, at);
  return { address: rendered.address, query };
}

function templateOf(tool: Tool): PathTemplate {
  const known = pathTemplates.get(tool) ?? parsePathTemplate(tool.request.path);
  pathTemplates.set(tool, known);
  return known;
}

/**
 * Appends pairs to a query. Throws as soon as the query is longer than an address may be, because a long name can be
 * repeated for each item of a list.
 */
function withPairs(query: string, pairs: Iterable<string>): string {
  let text = query;
  for (const pair of pairs) {
    if (pair === '') continue;
    text = text === '' ? pair : `${text}&${pair}`;
    checkAddressLength(text.length);
  }
  return text;
}

function* extraPairs({ request }: Tool, scope: TemplateScope): Generator<string> {
  for (const [name, template] of Object.entries(request.query ?? {})) {
    const value = renderTemplate(template, scope);
    if (value !== ABSENT) yield* encodePairs(name, value, 'repeat');
  }
  for (const parameter of request.parameters ?? []) {
    if (parameter.in === 'query') yield* queryPairs(parameter, inputOf(scope, parameter.input));
  }
  for (const [name, value] of Object.entries(fromCaller(scope, request.query_input))) {
    yield* encodePairs(name, value, 'repeat');
  }
}

/**
 * Returns the members of the input that `query_input` or `headers_input` names, which become query parameters or
 * headers.
 *
 * @param name undefined if the tool has no such input; the result is then empty
 */
function fromCaller({ input }: TemplateScope, name: string | undefined): Record<string, unknown> {
  const value = name === undefined ? undefined : input[name];
  return isRecord(value) ? value : {};
}

function inputOf({ input }: TemplateScope, name: string): unknown {
  return Object.hasOwn(input, name) ? input[name] : undefined;
}

function paged(tool: Tool, query: string, at: CursorValue): string {
  const { style, request } = tool.pagination ?? {};
  if (style === 'link_header' || style === 'next_url') return tool.restriction ? merged(query, at) : String(at);
  if (request?.in !== 'query') return query;
  return withParameter(query, request.name, `${encodeUnreserved(request.name)}=${encodeUnreserved(String(at))}`);
}

/**
 * Adds the query of a cursor to the query of the inputs. Callers can write a cursor themselves. Therefore its
 * parameters must not replace those of the inputs, which an overlay (an environment's changes to a tool) may
 * preset. Names are compared in lower case, without blanks and up to the first bracket, because servers may treat them
 * as the same parameter.
 */
function merged(query: string, at: CursorValue): string {
  const nameOf = (pair: string) => (nameOfPair(pair).split('[', 1)[0] ?? '').trim().toLowerCase();
  const taken = new Set(query.split('&').map(nameOf));
  const added = String(at)
    .split(/[&;]/)
    .filter((pair) => pair !== '' && !taken.has(nameOf(pair)));
  return withPairs(query, added);
}

/**
 * Adds the headers of the tool to `headers`.
 *
 * @returns the names of the headers that the caller chose (`headers_input`)
 */
function addToolHeaders(headers: Record<string, string>, tool: Tool, scope: TemplateScope): string[] {
  const { request } = tool;
  for (const [name, template] of Object.entries(request.headers ?? {})) {
    const value = renderTemplate(template, scope);
    if (value !== ABSENT) headers[name.toLowerCase()] = headerValue(value, inputNameOf(template));
  }
  for (const parameter of request.parameters ?? []) {
    const value = parameter.in === 'header' ? headerText(parameter, inputOf(scope, parameter.input)) : undefined;
    if (value !== undefined) headers[parameter.name.toLowerCase()] = headerValue(value, parameter.input);
  }
  const chosen: string[] = [];
  for (const [name, value] of Object.entries(fromCaller(scope, request.headers_input))) {
    if (!isCallerHeader(name)) throw reservedHeaderError(tool, name);
    headers[name.toLowerCase()] = headerValue(value, `${request.headers_input}.${name}`);
    chosen.push(name);
  }
  return chosen;
}

/** Returns the error for a header that the input must not contain. */
export function reservedHeaderError({ request }: Tool, name: string): ApiError {
  return inputProblem(`${request.headers_input}.${name}`, 'is a header that callers must not set');
}

function headerValue(value: unknown, input: string | undefined): string {
  if (typeof value === 'object') throw inputProblem(input, 'must be a string, number or boolean');
  const text = String(value);
  if (!isHeaderText(text)) throw inputProblem(input, 'must have only visible ASCII characters: it is sent as a header');
  return text.trim();
}

/**
 * Adds the idempotency key to a call that is not idempotent, so that the provider recognizes a repeated request (threat
 * E7). Does nothing if the provider has no header for such a key.
 */
function addIdempotencyKey(headers: Record<string, string>, { tool, provider, idempotencyKey }: RequestFacts): void {
  const header = provider.api.idempotency_header;
  if (header === undefined || idempotencyKey === undefined || tool.hints.idempotent) return;
  headers[header.toLowerCase()] = idempotencyKey;
}
