import { inputProblem } from './input-problem.ts';
import { isRecord } from './pointer.ts';
import { encodeUnreserved } from './template.ts';
import type { ToolParameter } from './tool.ts';

/** The separators in a list with explode=false. A space and a pipe are not allowed in a query, so they are encoded. */
const SEPARATORS = { form: ',', spaceDelimited: '%20', pipeDelimited: '%7C' } as const;

/** Reserved characters that a query may contain and that do not end a value (RFC 3986 §3.4). */
const UNENCODED = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B)/g;

/**
 * Encodes one query parameter in its OpenAPI style (OpenAPI 3.1 §4.8.12, "Style Values"). The standard does not define
 * the encoding of objects and lists within a list or an object; they are encoded as JSON, except in style deepObject.
 *
 * @param value the input; undefined and null produce no pair
 * @returns percent-encoded pairs `name=value`, generated one by one
 */
export function* queryPairs(parameter: ToolParameter, value: unknown): Generator<string> {
  if (value === undefined || value === null) return;
  const { style = 'form', explode = style === 'form' } = parameter;
  const name = encodeName(parameter.name);
  const encode = (item: unknown) => encodeValue(textOf(item), parameter.allow_reserved === true);
  const separator = SEPARATORS[style === 'simple' || style === 'deepObject' ? 'form' : style];
  if (parameter.content_type !== undefined) yield `${name}=${encode(contentText(parameter, value))}`;
  else if (style === 'deepObject') yield* deepPairs(name, value, encode);
  else if (Array.isArray(value)) {
    if (explode) for (const item of value) yield `${name}=${encode(item)}`;
    else if (value.length > 0) yield `${name}=${value.map(encode).join(separator)}`;
  } else if (isRecord(value)) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined && member !== null);
    if (explode && style === 'form') {
      for (const [key, member] of members) yield `${encodeName(key)}=${encode(member)}`;
    } else if (members.length > 0) {
      yield `${name}=${members.flatMap(([key, member]) => [encode(key), encode(member)]).join(separator)}`;
    }
  } else yield `${name}=${encode(value)}`;
}

/**
 * Returns the value of one header (style simple). Its characters are checked when it is added to the request.
 *
 * @returns undefined for an absent input
 */
export function headerText(parameter: ToolParameter, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (parameter.content_type !== undefined) return contentText(parameter, value);
  if (Array.isArray(value)) return value.map(textOf).join(',');
  if (!isRecord(value)) return textOf(value);
  const join = parameter.explode ? '=' : ',';
  return Object.entries(value)
    .map(([key, member]) => `${key}${join}${textOf(member)}`)
    .join(',');
}

/** Encodes nested members as name[a][b], and items of lists as name[a][0]. */
function* deepPairs(name: string, value: unknown, encode: (item: unknown) => string): Generator<string> {
  if (value === undefined || value === null) return;
  if (isRecord(value) || Array.isArray(value)) {
    for (const [key, member] of Object.entries(value)) yield* deepPairs(`${name}[${encodeName(key)}]`, member, encode);
  } else yield `${name}=${encode(value)}`;
}

/** Encodes a parameter that is described by a media type instead of a style: as JSON, or as unchanged text. */
function contentText({ input, content_type: contentType = '' }: ToolParameter, value: unknown): string {
  if (/[/+]json\b/i.test(contentType)) return JSON.stringify(value);
  if (typeof value === 'object') throw inputProblem(input, `must be a string: it is sent as ${contentType}`);
  return String(value);
}

function textOf(item: unknown): string {
  return typeof item === 'object' && item !== null ? JSON.stringify(item) : String(item);
}

function encodeValue(text: string, keepReserved: boolean): string {
  const encoded = encodeUnreserved(text);
  return keepReserved ? encoded.replace(UNENCODED, decodeURIComponent) : encoded;
}

/** Encodes a name but leaves brackets readable; servers accept both. */
function encodeName(name: string): string {
  return encodeUnreserved(name).replaceAll('%5B', '[').replaceAll('%5D', ']');
}
