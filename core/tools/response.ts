import { TextDecoder } from 'node:util';
import { RESPONSE } from '../budgets.ts';
import { decodeBase64 } from './file-content.ts';
import { jsonExtent } from './json-extent.ts';

/** The decoded body of a response. */
export type DecodedBody =
  | { kind: 'empty' }
  | { kind: 'json'; value: unknown }
  | { kind: 'text'; text: string }
  | { kind: 'binary'; mediaType: string; bytes: Buffer };

/** The Content-Type of a response is JSON, but its body is not JSON or is nested too deeply. */
export class UnreadableBodyError extends Error {}

const UTF_8 = new TextDecoder();
const JSON_TYPE = /^(application|text)\/(json|[a-z0-9.+-]+\+json|x-amz-json-\d\.\d)$/;
/** Matches 16 digits in a row. A whole number with so many digits may not be exact as a double. */
const LONG_NUMBER = /\d{16}/;
const TEXT_TYPE =
  /^(text\/.+|application\/(xml|x-www-form-urlencoded|javascript|ecmascript|yaml|x-yaml|[a-z0-9.+-]+\+(xml|yaml)))$/;

/**
 * Decodes a body by its media type. A body without a type is JSON if it can be parsed as JSON, otherwise text if it is
 * UTF-8 without zero bytes, otherwise binary. A body of a JSON type with too many values is not parsed and is binary.
 *
 * @param contentType the Content-Type header
 * @throws UnreadableBodyError if a body of a JSON type is not JSON or is nested too deeply
 */
export function decodeBody(contentType: string | undefined, bytes: Buffer): DecodedBody {
  if (bytes.length === 0) return { kind: 'empty' };
  const mediaType = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isJson = isJsonType(mediaType);
  if (isJson || mediaType === '') {
    const { nodes, levels } = jsonExtent(bytes);
    const isDeep = levels > RESPONSE.levels;
    const value = isDeep || nodes > RESPONSE.nodes ? undefined : parseJson(UTF_8.decode(bytes));
    if (value !== undefined) return { kind: 'json', value };
    if (isJson && isDeep) throw new UnreadableBodyError(`The body is nested more than ${RESPONSE.levels} levels`);
    if (isJson && nodes > RESPONSE.nodes) return { kind: 'binary', mediaType, bytes };
    if (isJson) throw new UnreadableBodyError('The media type is JSON, but the body is not valid JSON');
  }
  if (TEXT_TYPE.test(mediaType) || (mediaType === '' && isText(bytes))) {
    return { kind: 'text', text: decodeText(contentType ?? '', bytes) };
  }
  return { kind: 'binary', mediaType: mediaType || 'application/octet-stream', bytes };
}

/** @param mediaType in lower case, without parameters */
export function isJsonType(mediaType: string): boolean {
  return JSON_TYPE.test(mediaType);
}

/** Whether a body is so small that reading it on the event loop does not noticeably delay other work. */
export function isReadQuickly(bytes: Buffer): boolean {
  const { inlineBytes, inlineNodes } = RESPONSE;
  if (bytes.length > inlineBytes) return false;
  return bytes.length <= inlineNodes || jsonExtent(bytes).nodes <= inlineNodes;
}

/** Returns the text that is encoded as base64; undefined if this is not base64, or if the bytes are not UTF-8 text. */
export function textOfBase64(base64: string): string | undefined {
  const bytes = decodeBase64(base64);
  return bytes !== undefined && isText(bytes) ? bytes.toString('utf8') : undefined;
}

function decodeText(contentType: string, bytes: Buffer): string {
  const charset = /charset\s*=\s*"?([A-Za-z0-9._:-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  return decoder(charset).decode(bytes);
}

function decoder(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

function isText(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return !bytes.includes(0);
  } catch {
    return false;
  }
}

function parseJson(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exactly) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns large whole numbers as text, so that they keep their digits. The parameter `context` is part of ECMAScript
 * 2026, which TypeScript's types do not include yet.
 */
function exactly(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return context?.source !== undefined && /^-?\d+$/.test(context.source) ? context.source : value;
}
