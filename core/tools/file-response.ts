import { decodeBase64, FileContent, OCTETS } from './file-content.ts';
import { atPointer } from './pointer.ts';
import { headerOf, type ResponseHeaders } from './response-headers.ts';
import type { Tool } from './tool.ts';

const MAX_NAME_LENGTH = 255;

/**
 * Returns the response body as a file. Its name comes from Content-Disposition (RFC 6266).
 *
 * @param headers names in lower case
 */
export function fileOfBody(headers: ResponseHeaders, bytes: Buffer): FileContent {
  const mediaType = (headerOf(headers, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const name = nameOfDisposition(headerOf(headers, 'content-disposition') ?? '');
  return new FileContent(plainName(name), isMediaType(mediaType) ? mediaType : OCTETS, bytes);
}

/**
 * Returns the file that a JSON response contains as base64, if the tool declares one.
 *
 * @returns undefined if the declared place contains no base64; the response is then treated as ordinary JSON
 */
export function fileWithin({ base64, file_name, media_type }: FileWithin, json: unknown): FileContent | undefined {
  const text = atPointer(json, base64);
  const bytes = typeof text === 'string' ? decodeBase64(text) : undefined;
  if (bytes === undefined) return undefined;
  const stated = (pointer: string | undefined) => (pointer === undefined ? undefined : atPointer(json, pointer));
  const [name, type] = [stated(file_name), stated(media_type)];
  return new FileContent(
    plainName(typeof name === 'string' ? name : ''),
    typeof type === 'string' && isMediaType(type) ? type : OCTETS,
    bytes,
  );
}

type FileWithin = Exclude<NonNullable<NonNullable<Tool['response']>['file']>, true>;

/**
 * Returns the file name of a Content-Disposition header; `filename*` takes precedence over `filename` (RFC 6266 §4.3,
 * RFC 8187).
 */
function nameOfDisposition(header: string): string {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(header)?.[1];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      // The percent-encoding is invalid, so the plain `filename` is used.
    }
  }
  const plain = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(header);
  return (plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2] ?? '').trim();
}

/**
 * Returns a file name without a path, invisible characters or characters that change the direction of text; `file` if
 * nothing remains.
 */
function plainName(name: string): string {
  const last = name.toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const visible = last.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  const kept = [...visible].slice(0, MAX_NAME_LENGTH).join('');
  return kept === '' || /^\.+$/.test(kept) ? 'file' : kept;
}

function isMediaType(text: string | undefined): text is string {
  return text !== undefined && /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/i.test(text);
}
