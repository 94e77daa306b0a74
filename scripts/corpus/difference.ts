import { isDeepStrictEqual } from 'node:util';
import type { RenderedRequest } from '../../core/tools/request.ts';
import type { Tool } from '../../core/tools/tool.ts';
import type { OracleValues } from './oracle-values.ts';

/** The parts of a HAR request that are compared. */
interface HarRequest {
  method: string;
  url: string;
  headers: { name: string; value: string }[];
  queryString: { name: string; value: string }[];
  postData?: { mimeType: string; text?: string; params?: { name: string; value?: string }[] };
}

export interface Difference {
  /** Whether the other renderer (`@readme/oas-to-har`) is known to be wrong in this way. */
  known: boolean;
  what: string;
}

interface Rendered {
  tool: Tool;
  ours: RenderedRequest;
  theirs: HarRequest;
  input: Record<string, unknown>;
  values: OracleValues;
}

type Pair = readonly [string, string];

/** Compares method, URL, headers and body. Equivalent encodings of a character count as equal. */
export function differenceOf(rendered: Rendered): Difference | undefined {
  const { ours, theirs } = rendered;
  if (ours.method !== theirs.method) return different('method', ours.method, theirs.method);
  const url = new URL(ours.url);
  const [address = '', fixed = ''] = (theirs.url.split('#', 1)[0] ?? '').split('?', 2);
  const expected = plainAddress(address);
  const mine = plainAddress(url.origin + url.pathname);
  if (mine !== expected) {
    if (/\{[.;/?&#]/.test(address)) return known('does not know the operators of places in a path');
    if (mine === expected.replace(/(?<!:)\/{2,}/g, '/')) return known('keeps two slashes where the server ends in one');
    return different('address', url.origin + url.pathname, address);
  }
  return compareQuery(rendered, url, fixed) ?? compareHeaders(rendered) ?? compareBody(rendered);
}

function compareQuery({ tool, theirs, values }: Rendered, url: URL, fixed: string): Difference | undefined {
  const mine = pairsOf(url.search.slice(1));
  // The other renderer returns an exploded list as one value that contains query separators.
  const other = pairsOf(
    [fixed, ...theirs.queryString.map(({ name, value }) => `${encodeURIComponent(name)}=${value}`)].join('&'),
  );
  if (isDeepStrictEqual(sorted(mine), sorted(other))) return undefined;
  const given = other.filter(([name]) => Object.hasOwn(values.query, name) || fixed.includes(name));
  if (isDeepStrictEqual(sorted(mine), sorted(given)))
    return known('writes the default of a parameter that was left out');
  return knownQuery(tool, values) ?? different('query', mine, other);
}

/** Differences in which the other renderer does not follow OpenAPI, each with its reason. */
function knownQuery({ request }: Tool, values: OracleValues): Difference | undefined {
  const styled = (request.parameters ?? []).filter(
    (parameter) => parameter.in === 'query' && Object.hasOwn(values.query, parameter.name),
  );
  const holds = (test: (value: unknown) => boolean) => styled.some(({ name }) => test(values.query[name]));
  const nested = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).some((member) => typeof member === 'object' && member !== null);
  if (styled.some(({ name, allow_reserved }) => allow_reserved && /[&=+#]/.test(String(values.query[name]))))
    return known('keeps & = + and # of a value where reserved characters are allowed, which ends the value');
  const empty = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    (Object.keys(value).length === 0 || Object.values(value).some(empty));
  if (holds(empty)) return known('writes an empty object or list as an empty parameter');
  if (holds(nested))
    return known('writes a nested value of a query as [object Object], where the standard says nothing');
  return undefined;
}

function compareHeaders({ tool, ours, theirs }: Rendered): Difference | undefined {
  const names = [
    ...Object.keys(tool.request.headers ?? {}),
    ...(tool.request.parameters ?? []).filter((p) => p.in === 'header').map((p) => p.name),
  ].map((name) => name.toLowerCase());
  for (const name of names) {
    const mine = ours.headers[name];
    const other = theirs.headers.find((header) => header.name.toLowerCase() === name)?.value;
    if (mine === undefined && other === undefined) continue;
    if (mine === undefined || other === undefined || mine !== decode(other).trim())
      return different(`header ${name}`, mine, other);
  }
  return undefined;
}

function compareBody({ tool, ours, theirs, values }: Rendered): Difference | undefined {
  const { format } = tool.request.body ?? { format: 'none' };
  const { postData } = theirs;
  const type = String(ours.headers['content-type'] ?? '').split(';', 1)[0];
  if (format === 'none' || ours.body === undefined)
    return postData?.text ? different('body', undefined, postData) : undefined;
  if (
    postData &&
    (postData.mimeType.split(';', 1)[0] ?? '').trim().toLowerCase() !== type &&
    !postData.mimeType.includes('*')
  )
    return different('content type', type, postData.mimeType);
  switch (format) {
    case 'json':
      return compareJson(String(ours.body), postData?.text);
    case 'form':
      return compareForm(String(ours.body), postData?.params ?? [], values);
    case 'raw':
      if (type === 'application/x-www-form-urlencoded') return known('has no form that is one text');
      if (postData?.text === String(values.body ?? '') || String(values.body).startsWith('data:')) return undefined;
      if (!postData?.text) return known('writes no body that is one text');
      return different('body', String(ours.body), postData.text);
    default:
      return compareParts(ours.body, postData?.params ?? [], values);
  }
}

function compareJson(mine: string, other: string | undefined): Difference | undefined {
  const value = JSON.parse(mine) as unknown;
  if (other === undefined || other === '') {
    if (typeof value === 'string') return known('writes no body for a text body of type JSON that is not JSON');
    return isEmpty(value) ? undefined : different('body', mine, other);
  }
  let theirs: unknown;
  try {
    theirs = JSON.parse(other);
  } catch {
    return typeof value === 'string' && other === value
      ? known('writes a text body of type JSON without quotes')
      : different('body', mine, other);
  }
  if (isDeepStrictEqual(value, theirs)) return undefined;
  if (
    isDeepStrictEqual(withoutEmpty(parsedTexts(value)), withoutEmpty(parsedTexts(theirs))) &&
    mine !== JSON.stringify(parsedTexts(value))
  ) {
    return known('reads a text that looks like JSON as JSON');
  }
  if (isDeepStrictEqual(withoutEmpty(value), withoutEmpty(theirs))) return known('takes empty objects out of a body');
  return different('body', mine, other);
}

/** Returns a value in which texts that contain JSON are parsed. */
function parsedTexts(value: unknown): unknown {
  if (typeof value === 'string') {
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(parsedTexts);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, parsedTexts(member)]));
}

/** Returns a value without empty objects and lists. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value)
    .map(([key, member]) => [key, withoutEmpty(member)] as const)
    .filter(([, member]) => member !== undefined);
  if (kept.length === 0) return undefined;
  return Array.isArray(value) ? kept.map(([, member]) => member) : Object.fromEntries(kept);
}

/** Compares forms of plain values. The other renderer does not support lists and objects in forms. */
function compareForm(
  mine: string,
  params: readonly { name: string; value?: string }[],
  values: OracleValues,
): Difference | undefined {
  const pairs = pairsOf(mine);
  const nested = Object.entries(values.formData ?? {})
    .filter(([, value]) => typeof value === 'object' && value !== null)
    .map(([name]) => name);
  const plain = (list: readonly Pair[]) =>
    sorted(list.filter(([name]) => !nested.some((key) => name === key || name.startsWith(`${key}[`))));
  const other = params.map(({ name, value = '' }): Pair => [name, value]);
  if (!isDeepStrictEqual(plain(pairs), plain(other))) return different('form', pairs, other);
  return nested.length > 0
    ? known('joins a list of a form by commas and writes an object as JSON, regardless of its encoding')
    : undefined;
}

function compareParts(
  body: string | Buffer,
  params: readonly { name: string }[],
  values: OracleValues,
): Difference | undefined {
  const names = (list: Iterable<string>) => [...new Set(list)].sort();
  const mine = names([...body.toString().matchAll(/\bname="([^"]*)"/g)].map(([, name]) => decode(name ?? '')));
  const wanted = names(Object.keys(values.body as object));
  if (!isDeepStrictEqual(mine, wanted)) return different('parts', mine, wanted);
  const other = names(params.map(({ name }) => name));
  return isDeepStrictEqual(mine, other) ? undefined : known('leaves parts of a form out');
}

function pairsOf(query: string): Pair[] {
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const [name = '', ...rest] = pair.split('=');
      return [decode(name), decode(rest.join('='))] as const;
    });
}

function sorted(pairs: readonly Pair[]): Pair[] {
  return pairs.toSorted(([a, b], [c, d]) => (a + b < c + d ? -1 : 1));
}

/**
 * Returns an address decoded, with https (which the importer always uses), its host in lower case and without a default
 * port.
 */
function plainAddress(address: string): string {
  const [scheme, ...rest] = address
    .replace(/^(https?:\/\/[^/]*?):(443|80)(\/|$)/, '$1$3')
    .replace(/^http:/, 'https:')
    .replace(/^https:\/\/[^/]*/, (origin) => origin.toLowerCase())
    .split('/');
  return [scheme, ...rest.map(decode)].join('/').replace(/\/$/, '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function different(what: string, ours: unknown, theirs: unknown): Difference {
  return { known: false, what: `${what}: ours ${short(ours)}, theirs ${short(theirs)}` };
}

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

function known(what: string): Difference {
  return { known: true, what };
}
