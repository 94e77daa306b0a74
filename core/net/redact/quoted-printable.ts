import {
  type Decoded,
  type DecodeOptions,
  EQUALS,
  INCOMPLETE,
  isAlphanumeric,
  NEWLINE,
  RETURN,
  readHex,
  SPECIAL,
  write,
} from './decode.ts';
import { startOf, type View, ViewWriter } from './view.ts';

/**
 * Decodes escapes such as `=41` of quoted-printable (RFC 2045 §6.7) and of its variant in header fields (RFC 2047
 * §4.2), and removes soft line breaks. The result must be searched in addition to the original view: in `key=4142` the
 * equals sign is not an escape, so decoding would destroy the value.
 *
 * @returns undefined if decoding could not reveal a secret
 */
export function decodeQuotedPrintable(
  from: View,
  { name, arena, isWanted, final }: DecodeOptions,
): Decoded | undefined {
  const { bytes, length } = from;
  if (!mayShowPrintable(bytes, length, isWanted, final)) return undefined;
  const out = new ViewWriter(from, name, arena);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, length);
  let changed = false;
  let at = 0;
  while (at < length) {
    const found = buffer.indexOf(EQUALS, at);
    const next = found === -1 ? length : found;
    out.copy(at, next);
    at = next;
    if (at === length) break;
    const softBreak = lineBreakAt(bytes, at + 1);
    const read = softBreak > 0 ? undefined : readHex(bytes, at + 1, 2, length, true);
    const isOpen = read === INCOMPLETE || (bytes[at + 1] === RETURN && at + 2 === length);
    if (isOpen && !final) break;
    if (softBreak > 0 || typeof read === 'object') {
      changed = true;
      at = typeof read === 'object' ? write(out, read) : at + 1 + softBreak;
      out.jump(at);
    } else {
      out.copy(at, ++at);
    }
  }
  return { view: out.done(), changed, undecided: startOf(from, at) };
}

/**
 * Whether there is a soft line break, or an escape for a byte of a secret's form or of another escape. A single escaped
 * letter or digit is ignored, because most equals signs are in URLs such as `page=41`.
 */
function mayShowPrintable(
  bytes: Uint8Array,
  length: number,
  isWanted: DecodeOptions['isWanted'],
  final: boolean,
): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, length);
  for (let at = buffer.indexOf(EQUALS); at !== -1; at = buffer.indexOf(EQUALS, at + 1)) {
    if (lineBreakAt(bytes, at + 1) > 0) return true;
    const read = readHex(bytes, at + 1, 2, length, true);
    if (!final && (read === INCOMPLETE || at + 2 >= length)) return true;
    if (typeof read !== 'object') continue;
    const counts = isWanted(read.code) || SPECIAL[read.code] === 1;
    if (counts && (!isAlphanumeric(read.code) || bytes[read.end] === EQUALS)) return true;
  }
  return false;
}

/** Returns the length of the line break at an index: 0, 1 or 2. */
function lineBreakAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] === NEWLINE) return 1;
  return bytes[at] === RETURN && bytes[at + 1] === NEWLINE ? 2 : 0;
}
