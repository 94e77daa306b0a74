/** A file of a request or a response. In JSON and in URL-encoded forms its content is encoded as base64. */
export class FileContent {
  readonly name: string;
  /** undefined if unknown. */
  readonly mediaType: string | undefined;
  readonly bytes: Buffer;

  constructor(name: string, mediaType: string | undefined, bytes: Buffer) {
    this.name = name;
    this.mediaType = mediaType;
    this.bytes = bytes;
  }

  toString(): string {
    return this.bytes.toString('base64');
  }

  toJSON(): string {
    return this.toString();
  }

  /** Returns the description that users see in place of the content. */
  summary(): { file_name: string; mime_type: string; size: number } {
    return { file_name: this.name, mime_type: this.mediaType ?? OCTETS, size: this.bytes.length };
  }
}

export const OCTETS = 'application/octet-stream';

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Decodes base64 in either alphabet, with or without padding. Line breaks and blanks are skipped, as in mail (RFC 4648
 * §3.3 allows it).
 *
 * @returns undefined if the text is not base64. This is checked, because Node's decoder silently skips invalid
 * characters
 */
export function decodeBase64(text: string): Buffer | undefined {
  const compact = text.replace(/[\t\n\r ]+/g, '');
  const symbols = compact.replace(/=+$/, '');
  if (!BASE64.test(compact) || symbols.length % 4 === 1) return undefined;
  return Buffer.from(symbols, 'base64url');
}
