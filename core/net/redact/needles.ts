import { decode } from './decode.ts';
import { Arena, viewOf } from './view.ts';

/** A table that maps each byte to the value that is compared, for example a letter to its lower case. */
export type Alphabet = Uint8Array;

/** One form of a secret to search for, for example its base64 encoding. */
export interface Needle {
  /** The bytes after mapping by the alphabet. */
  bytes: Uint8Array;
  alphabet: Alphabet;
}

/** The minimum lengths of forms; shorter ones would be found in every text. */
const MIN_PLAIN = 4;
const MIN_ENCODED = 5;
const MIN_BASE32 = 8;
const BASE32 = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 'latin1');
/** Characters that percent-encoding leaves unchanged. */
const UNRESERVED = /^[A-Za-z0-9._~-]*$/;
/** The minimum length of a line of a multi-line secret, such as a private key, that is itself treated as a secret. */
const MIN_LINE = 16;
const MAX_LINES = 32;
/** How often a secret itself is decoded at most, because it may contain escapes. */
const SELF_DECODINGS = 3;

/**
 * Treats upper and lower case as equal, including Latin-1 letters, whose UTF-8 bytes also differ in one bit only. A
 * plus sign counts as a blank, because forms encode blanks as plus signs.
 */
const FOLDED: Alphabet = alphabetOf((code) => {
  if ((code >= 0x41 && code <= 0x5a) || (code >= 0x80 && code <= 0x9e)) return code + 0x20;
  return code === 0x2b ? 0x20 : code;
});

/** Treats the two alphabets of base64 (RFC 4648 §4, §5) as equal. */
const BASE64: Alphabet = alphabetOf((code) => (code === 0x2d ? 0x2b : code === 0x5f ? 0x2f : code));

function alphabetOf(map: (code: number) => number): Alphabet {
  return Uint8Array.from({ length: 256 }, (_, code) => map(code));
}

/**
 * Returns the needles of unencoded secrets: in each text encoding, and unescaped if the secret itself contains escapes.
 */
export function plainNeedles(texts: readonly string[]): Needle[] {
  return texts.flatMap((text) => plainForms(text, Buffer.from(text)).map(plain));
}

/** Returns the needles of secrets in hexadecimal, base32 and base64. They consist of the bytes in ENCODED_BYTES. */
export function encodedNeedles(texts: readonly string[]): Needle[] {
  const needles: Needle[] = [];
  for (const text of texts) {
    const utf8 = Buffer.from(text);
    needles.push(plain(Buffer.from(utf8.toString('hex'), 'latin1')));
    for (const bytes of encodedForms(text, utf8)) addBase64Forms(needles, bytes);
    // Base64 is applied twice, because for example a Basic header with a client secret may be encoded again.
    for (const base64 of base64Texts(utf8)) addBase64Forms(needles, base64);
    for (const base32 of base32Texts(utf8)) needles.push(plain(base32));
  }
  return needles;
}

/** 1 for each byte that an encoded form may contain. */
export const ENCODED_BYTES = Uint8Array.from({ length: 256 }, (_, code) =>
  /[A-Za-z0-9+/_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * Returns a lower bound for the length of all encoded forms. The shortest is base64 of UTF-8 or UTF-16, without the
 * characters at its ends.
 */
export function shortestEncoded(texts: readonly string[]): number {
  const bytes = Math.min(...texts.map((text) => Math.min(Buffer.byteLength(text), 2 * text.length)));
  return Math.max(MIN_ENCODED, Math.floor((bytes * 4) / 3) - 1);
}

/**
 * Returns a table with 1 for each byte below 0x80 that can occur in an encoded form or in one of these needles. The
 * entry at 0x80 represents all other bytes.
 */
export function wantedBytes(needles: readonly Needle[]): Uint8Array {
  const held = new Uint8Array(256);
  for (const { bytes } of needles) for (const byte of bytes) held[byte] = 1;
  const wanted = new Uint8Array(0x81);
  for (let byte = 0; byte < 256; byte++) {
    if (held[FOLDED[byte] as number] === 1 || ENCODED_BYTES[byte] === 1) wanted[Math.min(byte, 0x80)] = 1;
  }
  return wanted;
}

/**
 * Returns each secret. For a secret of several lines, also its first long lines, except those that begin with `-----`,
 * and its text with either kind of line end.
 */
export function textsOf(secrets: readonly string[]): string[] {
  return [...new Set(secrets.flatMap(linesOf))];
}

function linesOf(secret: string): string[] {
  if (!secret.includes('\n')) return [secret];
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE && !line.startsWith('-----'));
  const unified = secret.replaceAll('\r\n', '\n');
  return [secret, unified, unified.replaceAll('\n', '\r\n'), ...lines.slice(0, MAX_LINES)];
}

/**
 * Returns the text in several byte encodings, and its decoded forms if it contains escapes. The search removes the zero
 * bytes of UTF-16, so ASCII text needs no UTF-16 form. Other text also needs its upper-case and lower-case forms.
 */
function plainForms(text: string, utf8: Buffer): Buffer[] {
  const forms = [utf8];
  if (utf8.length !== text.length) {
    const little = Buffer.from(text, 'utf16le');
    forms.push(withoutZeros(little), withoutZeros(Buffer.from(little).swap16()));
    forms.push(Buffer.from(text.toUpperCase()), Buffer.from(text.toLowerCase()));
    if (/^[\0-\xff]*$/.test(text)) forms.push(Buffer.from(text, 'latin1'));
  }
  if (!/[%&\\]/.test(text)) return forms;
  return forms.flatMap(withDecodings).filter(({ length }) => length >= MIN_PLAIN);
}

function withoutZeros(bytes: Buffer): Buffer {
  return Buffer.from(bytes.filter((byte) => byte !== 0));
}

function withDecodings(bytes: Buffer): Buffer[] {
  const forms = [bytes];
  for (let step = 0; step < SELF_DECODINGS; step++) {
    const last = viewOf(forms.at(-1) as Buffer);
    const decoded = decode(last, { name: 'needle', arena: new Arena(), isWanted: () => true, final: true });
    if (!decoded?.changed) break;
    const { bytes: held, length } = decoded.view;
    forms.push(withoutZeros(Buffer.from(held.subarray(0, length))));
  }
  return forms;
}

/**
 * Returns the byte sequences that may be encoded in base64: the text in UTF-8 and in UTF-16, and with special
 * characters also its percent-encoded, form-encoded and JSON-escaped text (RFC 6749 §2.3.1 form-encodes client
 * secrets).
 */
function encodedForms(secret: string, utf8: Buffer): Buffer[] {
  const forms = [utf8, Buffer.from(secret, 'utf16le')];
  if (UNRESERVED.test(secret)) return forms;
  const percent = encodeURIComponent(secret.toWellFormed());
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  const json = JSON.stringify(secret).slice(1, -1);
  const others = new Set([percent, form, json].filter((text) => text !== secret));
  return [...forms, ...[...others].map((text) => Buffer.from(text))];
}

function plain(text: Buffer): Needle {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = FOLDED[text[at] as number] as number;
  return { bytes, alphabet: FOLDED };
}

function addBase64Forms(needles: Needle[], bytes: Buffer): void {
  for (const text of alignedTexts(bytes)) needles.push({ bytes: text, alphabet: BASE64 });
}

/** Returns the base64 forms, in both alphabets. */
function base64Texts(bytes: Buffer): Buffer[] {
  const texts = alignedTexts(bytes).map((text) => text.toString('latin1'));
  const others = texts.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...texts, ...others])].map((text) => Buffer.from(text, 'latin1'));
}

/** Returns the base32 characters (RFC 4648 §6) that depend only on these bytes, for each of the five alignments. */
function base32Texts(bytes: Buffer): Buffer[] {
  const texts: Buffer[] = [];
  for (let skipped = 0; skipped < 5; skipped++) {
    const length = Math.floor((bytes.length * 8 - skipped) / 5);
    if (length < MIN_BASE32) continue;
    const text = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; at++) {
      const bit = skipped + at * 5;
      const pair = ((bytes[bit >> 3] as number) << 8) | (bytes[(bit >> 3) + 1] ?? 0);
      text[at] = BASE32[(pair >> (11 - (bit & 7))) & 31] as number;
    }
    texts.push(text);
  }
  return texts;
}

/**
 * Returns the base64 characters that depend only on these bytes, for each of the three alignments. The characters at
 * the ends would also depend on neighbouring bytes, so they are omitted.
 */
function alignedTexts(bytes: Buffer): Buffer[] {
  const texts: Buffer[] = [];
  const padded = Buffer.alloc(bytes.length + 2);
  bytes.copy(padded, 2);
  for (let before = 0; before < 3; before++) {
    const length = before + bytes.length;
    const start = Math.ceil((before * 8) / 6);
    const end = Math.floor((length * 8) / 6);
    if (end - start < MIN_ENCODED) continue;
    const text = padded.toString('base64', 2 - before).slice(start, end);
    texts.push(Buffer.from(text, 'latin1'));
  }
  return texts;
}
