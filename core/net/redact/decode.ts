import { entityNamed, LONGEST_NAME } from './entities.ts';
import { endsLine } from './join.ts';
import { type Arena, startOf, type View, ViewWriter } from './view.ts';

export interface DecodeOptions {
  /** The name of the result's memory in the arena (memory that is reused, see `Arena`). */
  name: string;
  arena: Arena;
  /** Whether a form of a secret contains this byte or code point. All values from 0x80 on count as one value. */
  isWanted(code: number): boolean;
  /** Whether the source is complete; false if more of it may follow. */
  final: boolean;
}

/** The result of one decoding step. */
export interface Decoded {
  view: View;
  /** Whether the view differs from the one that was read. */
  changed: boolean;
  /** Where an incomplete escape begins in the source; the end of the source if there is none. */
  undecided: number;
}

const PERCENT = 0x25;
const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;
export const EQUALS = 0x3d;
export const NEWLINE = 0x0a;
export const RETURN = 0x0d;

const HEX = new Int8Array(256).fill(-1);
for (let digit = 0; digit < 16; digit++) {
  HEX[digit.toString(16).charCodeAt(0)] = digit;
  HEX[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}

/**
 * By the character after a backslash: the byte that the escape represents in JSON, JavaScript, Python or C; 0 if it is
 * not an escape of one character.
 */
const SINGLE = new Uint8Array(256);
for (const [character, code] of Object.entries({ b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, e: 27 })) {
  SINGLE[character.charCodeAt(0)] = code;
}
for (const character of '"\'/\\`') SINGLE[character.charCodeAt(0)] = character.charCodeAt(0);

/** 1 for each byte that begins an escape that `decode` decodes. */
export const SPECIAL = new Uint8Array(256);
for (const byte of [PERCENT, AMPERSAND, BACKSLASH]) SPECIAL[byte] = 1;

/** A decoded escape: its code, and the index after it. `isByte`: the code is a byte, not a code point. */
type Escape = { code: number; end: number; isByte: boolean };

export const INCOMPLETE = Symbol('incomplete');
type Reading = Escape | typeof INCOMPLETE | undefined;

/**
 * Decodes one level of escapes: percent-encoding (also partial, and `%u0041`), character references of HTML and XML
 * (decimal, hexadecimal, named), and backslash escapes (`\u0041`, `\u{41}`, `\U00000041`, `\x41`, `\101`, `\n`, `\/`).
 * Text that was encoded several times needs several calls.
 *
 * @returns undefined if decoding could not reveal a secret
 */
export function decode(from: View, { name, arena, isWanted, final }: DecodeOptions): Decoded | undefined {
  if (!mayShow(from, isWanted, final)) return undefined;
  const { bytes, length } = from;
  const out = new ViewWriter(from, name, arena);
  let changed = false;
  let at = 0;
  while (at < length) {
    let next = at;
    while (next < length && SPECIAL[bytes[next] as number] === 0) next++;
    out.copy(at, next);
    at = next;
    if (at === length) break;
    const read = readEscape(bytes, at, length, final);
    if (read === INCOMPLETE && !final) break;
    if (read === undefined || read === INCOMPLETE) {
      out.copy(at, ++at);
      continue;
    }
    changed = true;
    at = write(out, read);
    out.jump(at);
  }
  return { view: out.done(), changed, undecided: startOf(from, at) };
}

export function write(out: ViewWriter, { code, isByte, end }: Escape): number {
  if (isByte) out.put(code);
  else out.putCodePoint(code);
  return end;
}

/** Whether the bytes contain an escape for a character of a secret, or for the beginning of another escape. */
function mayShow({ bytes, length }: View, isWanted: DecodeOptions['isWanted'], final: boolean): boolean {
  for (let at = 0; at < length; at++) {
    if (SPECIAL[bytes[at] as number] === 0) continue;
    const read = readEscape(bytes, at, length, final);
    if (read === INCOMPLETE && !final) return true;
    if (typeof read !== 'object') continue;
    if (isWanted(read.code) || opens(read.code, bytes, at, read.end, length)) return true;
    at = read.end - 1;
  }
  return false;
}

/**
 * Whether a decoded character begins another escape together with the following bytes, is a line break inside base64 or
 * quoted-printable, or is a zero byte of UTF-16.
 */
function opens(code: number, bytes: Uint8Array, start: number, end: number, length: number): boolean {
  if (code === NEWLINE || code === RETURN) return bytes[start - 1] === EQUALS || endsLine(bytes, start);
  if (code !== PERCENT && code !== AMPERSAND && code !== BACKSLASH && code !== EQUALS) return code === 0;
  const next = bytes[end] as number;
  // A slash, a quote, a number sign or a letter can continue an escape; a blank or a comma cannot.
  return end >= length || SPECIAL[next] === 1 || SINGLE[next] !== 0 || next === 0x23 || isAlphanumeric(next);
}

function readEscape(bytes: Uint8Array, at: number, length: number, final: boolean): Reading {
  switch (bytes[at]) {
    case PERCENT:
      return bytes[at + 1] === 0x75 /* u */
        ? readHex(bytes, at + 2, 4, length, false)
        : readHex(bytes, at + 1, 2, length, true);
    case AMPERSAND:
      return readReference(bytes, at + 1, length, final);
    default:
      return readBackslash(bytes, at + 1, length);
  }
}

export function readHex(bytes: Uint8Array, from: number, digits: number, length: number, isByte: boolean): Reading {
  let code = 0;
  for (let at = from; at < from + digits; at++) {
    if (at >= length) return INCOMPLETE;
    const digit = HEX[bytes[at] as number] as number;
    if (digit < 0) return undefined;
    code = code * 16 + digit;
  }
  return { code, end: from + digits, isByte };
}

function readBackslash(bytes: Uint8Array, at: number, length: number): Reading {
  if (at >= length) return INCOMPLETE;
  const byte = bytes[at] as number;
  if (byte === 0x75 /* u */) return readUnicode(bytes, at + 1, length);
  if (byte === 0x55 /* U */) return readLongUnicode(bytes, at + 1, length);
  if (byte === 0x78 /* x */) return readHex(bytes, at + 1, 2, length, true);
  if (byte >= 0x30 && byte <= 0x33) return readOctal(bytes, at, length);
  const code = SINGLE[byte] as number;
  return code === 0 ? undefined : { code, end: at + 1, isByte: true };
}

/** Reads `0041` or `{41}`; two surrogates are combined to one code point. */
function readUnicode(bytes: Uint8Array, at: number, length: number): Reading {
  if (bytes[at] === 0x7b /* { */) {
    let code = 0;
    for (let end = at + 1; end < at + 8; end++) {
      if (end >= length) return INCOMPLETE;
      if (bytes[end] === 0x7d /* } */)
        return end === at + 1 || code > 0x10ffff ? undefined : { code, end: end + 1, isByte: false };
      const digit = HEX[bytes[end] as number] as number;
      if (digit < 0) return undefined;
      code = code * 16 + digit;
    }
    return undefined;
  }
  const high = readHex(bytes, at, 4, length, false);
  if (typeof high !== 'object' || high.code < 0xd800 || high.code > 0xdbff) return high;
  if (high.end + 6 > length) return couldBeSurrogate(bytes, high.end, length) ? INCOMPLETE : high;
  if (bytes[high.end] !== BACKSLASH || bytes[high.end + 1] !== 0x75) return high;
  const low = readHex(bytes, high.end + 2, 4, length, false);
  if (typeof low !== 'object' || low.code < 0xdc00 || low.code > 0xdfff) return high;
  return { code: 0x10000 + ((high.code - 0xd800) << 10) + (low.code - 0xdc00), end: low.end, isByte: false };
}

/** Reads `00000041`, as in Python and C. */
function readLongUnicode(bytes: Uint8Array, at: number, length: number): Reading {
  const read = readHex(bytes, at, 8, length, false);
  return typeof read === 'object' && read.code > 0x10ffff ? undefined : read;
}

function couldBeSurrogate(bytes: Uint8Array, at: number, length: number): boolean {
  return (at >= length || bytes[at] === BACKSLASH) && (at + 1 >= length || bytes[at + 1] === 0x75);
}

function readOctal(bytes: Uint8Array, at: number, length: number): Reading {
  let code = 0;
  for (let end = at; end < at + 3; end++) {
    if (end >= length) return INCOMPLETE;
    const digit = (bytes[end] as number) - 0x30;
    if (digit < 0 || digit > 7) return undefined;
    code = code * 8 + digit;
  }
  return { code, end: at + 3, isByte: true };
}

/** Reads `#65;`, `#x41;` or `amp;`, after the ampersand. HTML parsers accept a number without its semicolon. */
function readReference(bytes: Uint8Array, at: number, length: number, final: boolean): Reading {
  if (at >= length) return INCOMPLETE;
  if (bytes[at] !== 0x23 /* # */) return readNamed(bytes, at, length);
  const isHex = ((bytes[at + 1] ?? 0) | 0x20) === 0x78;
  const base = isHex ? 16 : 10;
  const from = at + (isHex ? 2 : 1);
  let code = 0;
  let end = from;
  for (; end < length; end++) {
    const digit = HEX[bytes[end] as number] as number;
    if (digit < 0 || digit >= base) break;
    code = Math.min(0x110000, code * base + digit);
  }
  // A reference could have any number of leading zeros, so after 12 characters the function does not wait for more.
  if (end === length && end - from < 12 && !final) return INCOMPLETE;
  if (end === from || code > 0x10ffff || code === 0) return undefined;
  return { code, end: bytes[end] === 0x3b ? end + 1 : end, isByte: false };
}

function readNamed(bytes: Uint8Array, at: number, length: number): Reading {
  let end = at;
  while (end < length && end - at <= LONGEST_NAME && isAlphanumeric(bytes[end] as number)) end++;
  if (end === length && end - at <= LONGEST_NAME) return INCOMPLETE;
  if (end === at || bytes[end] !== 0x3b) return undefined;
  const code = entityNamed(String.fromCharCode(...bytes.subarray(at, end)));
  return code === undefined ? undefined : { code, end: end + 1, isByte: false };
}

export function isAlphanumeric(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a);
}

/** Removes the zero bytes of UTF-16; returns undefined if there are none. */
export function withoutZeros(from: View, { name, arena }: Pick<DecodeOptions, 'name' | 'arena'>): View | undefined {
  const { bytes, length } = from;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, length);
  let zero = buffer.indexOf(0);
  if (zero === -1) return undefined;
  const out = new ViewWriter(from, name, arena);
  for (let at = 0; at < length; zero = buffer.indexOf(0, at)) {
    const next = zero === -1 ? length : zero;
    out.copy(at, next);
    for (at = next; at < length && bytes[at] === 0; ) at++;
    out.jump(at);
  }
  return out.done();
}
