import { type Arena, type View, ViewWriter } from './view.ts';

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const COLON = 0x3a;

const BASE64 = new Uint8Array(256);
const HEX = new Uint8Array(256);
for (let code = 0; code < 256; code++) {
  if (/[A-Za-z0-9+/_=-]/.test(String.fromCharCode(code))) BASE64[code] = 1;
  if (/[0-9A-Fa-f]/.test(String.fromCharCode(code))) HEX[code] = 1;
}
/**
 * The minimum length of a line of base64. Encoders usually break lines after 64 or 76 characters, but any length is
 * possible. A group of base64 has four characters.
 */
const MIN_LINE = 4;
/** The minimum number of separators between consecutive pairs of digits. Fewer occur in times or between words. */
const MIN_PAIRS = 3;

/**
 * Returns the view without the line breaks inside base64 and the indentation after them; undefined if there are none.
 */
export function joinLines(from: View, name: string, arena: Arena, final: boolean): View | undefined {
  const { bytes, length } = from;
  const breaks = lineBreaks(bytes, length, final);
  if (breaks.length === 0) return undefined;
  return without(from, name, arena, breaks);
}

/** Whether the line that ends before this index may be base64, according to its last characters. */
export function endsLine(bytes: Uint8Array, end: number): boolean {
  if (end < MIN_LINE) return false;
  for (let at = end - MIN_LINE; at < end; at++) if (BASE64[bytes[at] as number] === 0) return false;
  return true;
}

/** Returns the ranges to leave out: `[start, end, start, end, …]`. */
function lineBreaks(bytes: Uint8Array, length: number, final: boolean): number[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, length);
  const ranges: number[] = [];
  for (let at = buffer.indexOf(NEWLINE); at !== -1; at = buffer.indexOf(NEWLINE, at + 1)) {
    const start = at > 0 && bytes[at - 1] === RETURN ? at - 1 : at;
    if (!endsLine(bytes, start)) continue;
    let end = at + 1;
    while (end < length && (bytes[end] === SPACE || bytes[end] === TAB)) end++;
    if (end < length ? BASE64[bytes[end] as number] === 1 : !final) ranges.push(start, end);
  }
  const last = length - 1;
  if (!final && bytes[last] === RETURN && endsLine(bytes, last)) ranges.push(last, length);
  return ranges;
}

/**
 * Returns the view without the colons or blanks between pairs of hexadecimal digits, as in `73:65:63`; undefined if
 * there are none.
 *
 * @param final whether the source is complete; false if a row of pairs at the end may continue
 */
export function joinPairs(from: View, name: string, arena: Arena, final: boolean): View | undefined {
  const { bytes, length } = from;
  const ranges: number[] = [];
  let longest = 0;
  let row = 0;
  for (let at = 2; at < length; at++) {
    const byte = bytes[at];
    if ((byte !== COLON && byte !== SPACE) || !isPair(bytes, at - 2)) continue;
    const isOpen = !final && at + 3 >= length && isHex(bytes, at + 1, length);
    if (!isOpen && !(at + 2 < length && isPair(bytes, at + 1))) continue;
    row = ranges.at(-2) === at - 3 ? row + 1 : 1;
    longest = Math.max(longest, isOpen ? MIN_PAIRS : row);
    ranges.push(at, at + 1);
  }
  return longest < MIN_PAIRS ? undefined : without(from, name, arena, ranges);
}

function isHex(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (HEX[bytes[at] as number] === 0) return false;
  return true;
}

function isPair(bytes: Uint8Array, at: number): boolean {
  return HEX[bytes[at] as number] === 1 && HEX[bytes[at + 1] as number] === 1;
}

function without(from: View, name: string, arena: Arena, ranges: readonly number[]): View {
  const out = new ViewWriter(from, name, arena);
  let at = 0;
  for (let index = 0; index < ranges.length; index += 2) {
    out.copy(at, ranges[index] as number);
    at = ranges[index + 1] as number;
    out.jump(at);
  }
  out.copy(at, from.length);
  return out.done();
}
