import { TOOL_REQUEST } from '../budgets.ts';
import { inputProblem } from './input-problem.ts';
import { mayContainDotSegment, segmentProblem } from './path-segment.ts';
import { isRecord } from './pointer.ts';
import {
  expandTemplate,
  type Operator,
  parseTemplate,
  type TemplatePart,
  TemplateSyntaxError,
  type TemplateValue,
} from './template.ts';

/** The path of a tool, separated from its query. */
export interface PathTemplate {
  path: TemplatePart[];
  query: TemplatePart[];
}

export interface RenderedUrl {
  /** Base URL and path, without a query. */
  address: string;
  /** Percent-encoded, without the question mark. */
  query: string;
}

const { addressChars: MAX_LENGTH } = TOOL_REQUEST;

/**
 * Parses a tool's path. It throws only while a definition is checked or imported, because stored templates were checked
 * before.
 *
 * @throws TemplateSyntaxError if RFC 6570 or the rules of tool paths do not allow the path, for example because of a
 * fragment or a dot segment
 */
export function parsePathTemplate(template: string): PathTemplate {
  const path: TemplatePart[] = [];
  const query: TemplatePart[] = [];
  for (const part of parseTemplate(template)) {
    if (query.length > 0) {
      query.push(part);
    } else if ('literal' in part) {
      const mark = part.literal.indexOf('?');
      const before = mark === -1 ? part.literal : part.literal.slice(0, mark);
      if (before !== '') path.push({ literal: before });
      if (mark !== -1) query.push({ literal: part.literal.slice(mark) });
    } else if (part.operator === '?' || part.operator === '&') {
      query.push(part);
    } else {
      path.push(part);
    }
  }
  checkPath(template, path);
  checkQuery(template, query);
  return { path, query };
}

function checkPath(template: string, path: readonly TemplatePart[]): void {
  const first = path[0];
  const slash =
    first && 'literal' in first ? first.literal.startsWith('/') : first?.operator === '+' || first?.operator === '/';
  if (!slash) throw new TemplateSyntaxError(`The path must start with a slash or {+…}: ${template}`);
  // A dot between two values, {name}.{format}, is not a dot segment.
  const shape = path.map((part) => ('literal' in part ? part.literal : 'x')).join('');
  if (mayContainDotSegment(shape) || shape.includes('//')) {
    throw new TemplateSyntaxError(`The path has a dot segment or an empty segment: ${template}`);
  }
  path.forEach((part, index) => {
    if ('literal' in part) {
      if (!/^[A-Za-z0-9/._~!$&'()*+,;=:@-]*$/.test(part.literal)) {
        throw new TemplateSyntaxError(`The path has a character that must be percent-encoded: ${template}`);
      }
    } else if (part.operator === '#') {
      throw new TemplateSyntaxError(`The path must not have a fragment: ${template}`);
    } else if (part.operator === '+' && index > 0 && !endsWithSlash(path[index - 1])) {
      throw new TemplateSyntaxError(`{+…} must follow a slash or begin the path: ${template}`);
    }
  });
}

function endsWithSlash(part: TemplatePart | undefined): boolean {
  return part !== undefined && 'literal' in part && part.literal.endsWith('/');
}

function checkQuery(template: string, query: readonly TemplatePart[]): void {
  for (const part of query) {
    if ('literal' in part ? /[#\s]/.test(part.literal) : !['', '?', '&'].includes(part.operator)) {
      throw new TemplateSyntaxError(
        `The query must have only the forms {…}, {?…} and {&…}, no white space and no fragment: ${template}`,
      );
    }
  }
}

/**
 * Renders the URL of a call. Inputs cannot lead out of the template (threat E1): the result has the same origin and the
 * base URL's path as prefix. Only the expressions {+…} and {/…} can change the number of segments.
 *
 * @param base absolute URL without a trailing slash, as normalized by the URL parser
 * @param lookup returns the value of a variable by its name
 * @throws ApiError INVALID_TOOL_INPUT, with the name of the input if a single input is the cause
 */
export function renderUrl(base: string, template: PathTemplate, lookup: (name: string) => unknown): RenderedUrl {
  for (const part of template.path) {
    if ('literal' in part) continue;
    for (const { name } of part.variables) {
      checkLength(name, lookup(name));
      checkPathValue(name, lookup(name), part.operator, part === template.path[0]);
    }
  }
  const values = (name: string) => templateValue(name, lookup(name));
  const path = expandTemplate(template.path, (name) => withinPath(template, name, values(name)));
  const query = template.query.length === 0 ? '' : expandTemplate(template.query, values).replace(/^[?&]/, '');
  verify(base, path, query);
  return { address: base + path, query };
}

/**
 * Checks that the URL parser, which is also used for sending, does not change the rendered URL, and that the path has
 * no segment that a server could interpret in another way.
 */
function verify(base: string, path: string, query: string): void {
  const url = URL.parse(`${base}${path}${query === '' ? '' : `?${query}`}`);
  const inside =
    url !== null &&
    url.origin + url.pathname === base + path &&
    url.username + url.password + url.hash === '' &&
    !path.includes('//') &&
    !mayContainDotSegment(path) &&
    !(path.includes('%') && /%(5c|00)/i.test(path));
  if (!inside) throw inputProblem(undefined, 'produces a URL outside the path of the tool');
  checkAddressLength(url.href.length);
}

/** @throws ApiError INVALID_TOOL_INPUT */
export function checkAddressLength(chars: number): void {
  if (chars > MAX_LENGTH) throw inputProblem(undefined, `produces a URL of more than ${MAX_LENGTH} characters`);
}

function templateValue(name: string, value: unknown): TemplateValue {
  checkLength(name, value);
  if (isScalar(value)) return value;
  if (Array.isArray(value) && value.every(isScalar)) return value;
  if (isRecord(value) && Object.values(value).every(isScalar)) return value as Record<string, string>;
  throw inputProblem(inputName(name), 'cannot be part of a URL: it has nested values');
}

/** Rejects a value that is too long for an address, before its items are encoded. */
function checkLength(name: string, value: unknown): void {
  const items = typeof value === 'object' && value !== null ? Object.entries(value) : [['', value] as const];
  let chars = 0;
  for (const [key, item] of items) {
    chars += 1 + key.length + (typeof item === 'string' ? item.length : 0);
    if (chars > MAX_LENGTH) throw inputProblem(inputName(name), `must have at most ${MAX_LENGTH} characters`);
  }
}

function isScalar(value: unknown): value is string | number | boolean | null | undefined {
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' || value === null || value === undefined;
}

/**
 * Checks that a value stays at its place in the path, even for servers that decode twice: it must contain no backslash,
 * control character or dot segment, plain or encoded any number of times, and no encoded slash.
 */
function checkPathValue(name: string, value: unknown, operator: Operator, first: boolean): void {
  // {/a}, {.a} and {;a} include their separator, so an absent value leaves no empty segment.
  if ((value === undefined || value === null) && ['/', '.', ';'].includes(operator)) return;
  for (const text of textsOf(value)) {
    if (text.length > MAX_LENGTH) throw inputProblem(inputName(name), `must have at most ${MAX_LENGTH} characters`);
    const problem = operator === '+' ? pathProblem(text, first) : valueProblem(text);
    if (problem) throw inputProblem(inputName(name), problem);
  }
}

function textsOf(value: unknown): string[] {
  if (value === undefined || value === null) return [''];
  if (Array.isArray(value)) return value.length === 0 ? [''] : value.map(String);
  return isRecord(value) ? [...Object.keys(value), ...Object.values(value).map(String)] : [String(value)];
}

/**
 * Percent-encodes `?` and `#` in the value of an expression {+…} after the start of the path, for example the name of a
 * branch, because they would end the path. Returns any other value unchanged.
 */
function withinPath({ path }: PathTemplate, name: string, value: TemplateValue): TemplateValue {
  if (typeof value !== 'string' || !/[?#]/.test(value)) return value;
  const isName = path.some(
    (part, index) =>
      index > 0 &&
      'variables' in part &&
      part.operator === '+' &&
      part.variables.some((variable) => variable.name === name),
  );
  return isName ? value.replace(/[?#]/g, encodeURIComponent) : value;
}

/**
 * Returns what is wrong with a path of several segments. At the start of the template the path must begin with a slash;
 * elsewhere it must not.
 */
function pathProblem(path: string, first: boolean): string | undefined {
  if (first && !path.startsWith('/')) return 'must start with a slash';
  if (!first && path.startsWith('/')) return 'must not start with a slash';
  if (first && /[?#]/.test(path)) return 'must be only a path: no query, no fragment';
  const segments = path.slice(first ? 1 : 0).split('/');
  // A path may end with a slash, but an empty segment elsewhere is invalid.
  if (segments.at(-1) === '') segments.pop();
  return segments.map(segmentProblem).find((problem) => problem !== undefined);
}

/**
 * Returns what is wrong with a value for one segment. It may contain slashes, which are percent-encoded. Some servers
 * treat an encoded slash like a plain one, so the pieces between slashes must be valid segments too.
 */
function valueProblem(text: string): string | undefined {
  if (!text.includes('/')) return segmentProblem(text);
  const pieces = text.split('/');
  if (pieces.includes('')) return 'must not begin or end with a slash, or have two slashes in a row';
  return pieces.map(segmentProblem).find((problem) => problem !== undefined);
}

function inputName(variable: string): string | undefined {
  return variable.startsWith('account.') ? undefined : variable;
}

/** Whether `host` is `other` or a subdomain of it. Both must be in lower case. */
export function isWithinHost(host: string, other: string): boolean {
  return host === other || host.endsWith(`.${other}`);
}
