import { createHash } from 'node:crypto';
import { FileContent, OCTETS } from './file-content.ts';
import { RenderBudget } from './render-budget.ts';
import type { MultipartParts } from './tool.ts';

interface Part {
  name: string;
  fileName?: string;
  /** undefined for the default of RFC 7578 §4.4, plain text. */
  mediaType: string | undefined;
  bytes: Buffer;
}

/**
 * Encodes an object as multipart/form-data (RFC 7578): one part for each member or list item. Objects and null are
 * encoded as JSON, and other values except files as text. A member with a JSON content type is encoded as JSON in one
 * part, unless it is a file.
 *
 * @param stated the tool's settings for single members
 * @returns the same bytes for the same value, so that the provider can recognize a repeated call
 */
export function encodeMultipart(
  value: Readonly<Record<string, unknown>>,
  stated: MultipartParts = {},
  budget: RenderBudget = new RenderBudget(),
): { type: string; bytes: Buffer; preview: Record<string, unknown> } {
  budget.value(value);
  const parts: Part[] = [];
  for (const [name, member] of Object.entries(value)) {
    for (const part of partsOf(name, member, stated[name]?.content_type)) {
      budget.bytes(name.length);
      parts.push(part);
    }
  }
  const boundary = boundaryOf(parts);
  const bytes = Buffer.concat([
    ...parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n${headOf(part)}\r\n\r\n`), part.bytes, CRLF]),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  const preview = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shown(member)]));
  return { type: `multipart/form-data; boundary=${boundary}`, bytes, preview };
}

const CRLF = Buffer.from('\r\n');

function* partsOf(name: string, value: unknown, contentType: string | undefined): Generator<Part> {
  if (value === undefined) return;
  const single = contentType?.includes(',') || contentType?.includes('*') ? undefined : contentType;
  if (value instanceof FileContent) {
    yield { name, fileName: value.name, mediaType: value.mediaType ?? single ?? OCTETS, bytes: value.bytes };
  } else if (Array.isArray(value) && !isJson(single)) {
    for (const item of value) yield* partsOf(name, item, contentType);
  } else if (typeof value === 'object' || isJson(single)) {
    yield { name, mediaType: single ?? 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
  } else yield { name, mediaType: single, bytes: Buffer.from(String(value)) };
}

function isJson(mediaType: string | undefined): boolean {
  return mediaType !== undefined && /^application\/(json|[a-z0-9.+-]+\+json)\b/i.test(mediaType);
}

function headOf({ name, fileName, mediaType }: Part): string {
  const file = fileName === undefined ? '' : `; filename="${quoted(fileName)}"`;
  const type = mediaType === undefined ? '' : `\r\nContent-Type: ${mediaType}`;
  return `Content-Disposition: form-data; name="${quoted(name)}"${file}${type}`;
}

/**
 * Encodes a name as browsers do (form submission of the HTML standard): a quote or line break would end the name
 * (threat E2).
 */
function quoted(text: string): string {
  return (
    text
      .toWellFormed()
      .replaceAll('"', '%22')
      .replaceAll('\r', '%0D')
      .replaceAll('\n', '%0A')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters have no place in a header
      .replace(/[\u0000-\u001f\u007f]/g, '')
  );
}

/**
 * Returns a boundary that is a digest of the parts. The probability that a part contains it is negligible, and the same
 * parts always have the same boundary.
 */
function boundaryOf(parts: readonly Part[]): string {
  const hash = createHash('sha256');
  for (const part of parts) {
    const head = headOf(part);
    hash.update(`${head.length}:${head}${part.bytes.length}:`).update(part.bytes);
  }
  return `form-${hash.digest('hex').slice(0, 48)}`;
}

function shown(value: unknown): unknown {
  if (value instanceof FileContent) return value.summary();
  return Array.isArray(value) ? value.map(shown) : value;
}
