import { inputProblem } from './input-problem.ts';
import { isRecord } from './pointer.ts';
import { encodeUnreserved } from './template.ts';
import type { ToolParameter } from './tool.ts';

/** Between the items of a list that is not exploded; a blank and a bar are no characters of a query, so they are encoded. */
const SEPARATORS = { form: ',', spaceDelimited: '%20', pipeDelimited: '%7C' } as const;

/** Reserved characters that a query may carry and that do not end the value they stand in (RFC 3986 §3.4). */
const KEPT_RESERVED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/g;

/**
 * Renders one query parameter as OpenAPI serialises it (OpenAPI 3.1 §4.8.12, "Style Values"). What the standard leaves
 * open, a value nested in a list or in a member of style form, is written as JSON.
 *
 * @param value the input; undefined and null leave no trace
 * @returns percent-encoded pairs `name=value`
 */
export function queryPairs(parameter: ToolParameter, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const { style = 'form', explode = style === 'form' } = parameter;
  const name = encodeName(parameter.name);
  const encode = (item: unknown) => encodeValue(textOf(item), parameter.allow_reserved === true);
  if (parameter.content_type !== undefined) return [`${name}=${encode(contentText(parameter.content_type, value))}`];
  if (style === 'deepObject') return deepPairs(name, value, encode);

  const separator = SEPARATORS[style === 'simple' ? 'form' : style];
  if (Array.isArray(value)) {
    if (value.length === 0) return [];
    const items = value.map(encode);
    return explode ? items.map((item) => `${name}=${item}`) : [`${name}=${items.join(separator)}`];
  }
  if (!isRecord(value)) return [`${name}=${encode(value)}`];
  const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
  if (members.length === 0) return [];
  if (explode && style === 'form') return members.map(([key, member]) => `${encodeName(key)}=${encode(member)}`);
  return [`${name}=${members.flatMap(([key, member]) => [encode(key), encode(member)]).join(separator)}`];
}

/**
 * The value of one header (style simple); its characters are checked where it is put into the request.
 *
 * @returns undefined for an absent input
 */
export function headerText(parameter: ToolParameter, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (parameter.content_type !== undefined) return contentText(parameter.content_type, value);
  if (Array.isArray(value)) return value.map(textOf).join(',');
  if (!isRecord(value)) return textOf(value);
  const join = parameter.explode ? '=' : ',';
  return Object.entries(value)
    .map(([key, member]) => `${key}${join}${textOf(member)}`)
    .join(',');
}

/** Nested members as name[a][b], items of lists as name[a][0]. */
function deepPairs(name: string, value: unknown, encode: (item: unknown) => string): string[] {
  if (value === undefined || value === null) return [];
  if (!isRecord(value) && !Array.isArray(value)) return [`${name}=${encode(value)}`];
  return Object.entries(value).flatMap(([key, member]) => deepPairs(`${name}[${encodeName(key)}]`, member, encode));
}

/** A parameter that is described by a media type instead of a style: JSON, or a text that is sent as it is. */
function contentText(contentType: string, value: unknown): string {
  if (/[/+]json\b/i.test(contentType)) return JSON.stringify(value);
  if (typeof value === 'object') throw inputProblem(undefined, `must be a text: it is sent as ${contentType}`);
  return String(value);
}

function textOf(item: unknown): string {
  return typeof item === 'object' && item !== null ? JSON.stringify(item) : String(item);
}

function encodeValue(text: string, keepReserved: boolean): string {
  const encoded = encodeUnreserved(text);
  return keepReserved ? encoded.replace(KEPT_RESERVED, decodeURIComponent) : encoded;
}

/** Brackets of a name stay readable: every reader takes both forms. */
function encodeName(name: string): string {
  return encodeUnreserved(name).replaceAll('%5B', '[').replaceAll('%5D', ']');
}
