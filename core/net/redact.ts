import { asciiJson } from '../ascii-json.ts';

/** What stands where a secret was. */
export const SCRUBBED = '[secret]';

/** A secret shorter than this is left in place: replacing it would tear every text apart, and it protects nothing. */
export const MIN_SECRET_LENGTH = 4;

/** JSON deeper than this is replaced as a whole. No answer of use is so deep; the walk recurses. */
const MAX_DEPTH = 200;
const MIN_BASE64_LENGTH = 5;

export interface Scrubber {
  <T>(value: T): T;
  /**
   * The same for a value that was read from a JSON text. Looking through the text takes a small part of the time that a walk through
   * the value does, and nearly always there is nothing to be found.
   */
  parsed<T>(value: T, json: string): T;
}

/**
 * Makes the function that removes secrets from results, errors and log records, so that a third party which echoes a
 * credential tells the agent nothing (threat E5). It replaces each occurrence of a secret in strings, object keys and numbers:
 * as it is, percent-encoded (either case, form and RFC 3986 rules), escaped as in JSON, and inside base64 and base64url at any
 * alignment, so that `user:secret` of Basic authentication is found by the secret alone. Other encodings are not undone.
 * The time is linear in the text, whatever text and secrets are.
 *
 * @param secrets plaintexts; those shorter than MIN_SECRET_LENGTH are ignored
 */
export function createScrubber(secrets: readonly string[]): Scrubber {
  const needles = needlesOf(secrets);
  const clean = (text: string) => replaceAll(text, needles);
  const scrubbed = <T>(value: T): T => (needles.length === 0 ? value : (walk(value, clean, 0) as T));
  const parsed = <T>(value: T, json: string): T => (mayHold(json, needles) ? scrubbed(value) : value);
  return Object.assign(scrubbed, { parsed });
}

function needlesOf(secrets: readonly string[]): Needle[] {
  const needles: Needle[] = [];
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    for (const form of formsOf(secret)) {
      if (!needles.some((needle) => needle.text === form)) needles.push(new Needle(form));
    }
  }
  return needles;
}

/**
 * `createScrubber` for a text that comes in pieces: what could be the beginning of a secret is kept back until more of it is there.
 *
 * @returns the pieces to hand on; `end` gives the last one
 */
export function createStreamScrubber(secrets: readonly string[]): { add(piece: string): string; end(): string } {
  const clean = createScrubber(secrets);
  const usable = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const longest = Math.max(1, ...usable.flatMap(formsOf).map((form) => form.length));
  let kept = '';
  return {
    add(piece) {
      kept = clean(kept + piece);
      const cut = Math.max(0, kept.length - (longest - 1));
      const ready = kept.slice(0, cut);
      kept = kept.slice(cut);
      return ready;
    },
    end: () => clean(kept),
  };
}

/** `createScrubber` for one value. */
export function scrub<T>(value: T, secrets: readonly string[]): T {
  return createScrubber(secrets)(value);
}

function walk(value: unknown, clean: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value === 'number') {
    const text = String(value);
    return clean(text) === text ? value : SCRUBBED;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return SCRUBBED;
  if (Array.isArray(value)) return value.map((item) => walk(item, clean, depth + 1));
  // fromEntries defines own properties, so a key __proto__ stays a key.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), walk(item, clean, depth + 1)]));
}

/** Characters that no encoding of text changes. */
const PLAIN = /^[A-Za-z0-9_.-]*$/;

function formsOf(secret: string): string[] {
  return [...(PLAIN.test(secret) ? [secret] : escapedFormsOf(secret)), ...base64FormsOf(secret)];
}

function escapedFormsOf(secret: string): string[] {
  const percent = encodeURIComponent(secret.toWellFormed());
  const strict = percent.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  const escaped = JSON.stringify(secret).slice(1, -1);
  const ascii = asciiJson(escaped);
  return [
    secret,
    ...[percent, strict, form].flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]),
    ...[escaped, ascii].flatMap((text) => [text, text.replaceAll('/', '\\/')]),
  ];
}

/** The part of the base64 text that depends on the secret alone, for each of the three alignments. */
function base64FormsOf(secret: string): string[] {
  const bytes = Buffer.from(`\0\0${secret}`);
  const length = bytes.length - 2;
  const forms: string[] = [];
  for (const before of [0, 1, 2]) {
    const start = Math.ceil((before * 8) / 6);
    const end = Math.floor(((before + length) * 8) / 6);
    const url = bytes.toString('base64url', 2 - before).slice(start, end);
    if (url.length >= MIN_BASE64_LENGTH) forms.push(url, url.replaceAll('-', '+').replaceAll('_', '/'));
  }
  return forms;
}

/** A text to be found. */
class Needle {
  readonly text: string;
  /** The short head is found at native speed, and is nearly always absent. */
  readonly head: string;
  #borders: Int32Array | undefined;

  constructor(text: string) {
    this.text = text;
    this.head = text.slice(0, 8);
  }

  /** For each prefix, the length of its longest proper prefix that is also its suffix. */
  get borders(): Int32Array {
    this.#borders ??= bordersOf(this.text);
    return this.#borders;
  }
}

/** What a number may be written with. */
const NUMBER = /^[0-9eE.+-]*$/;
/** Characters that JSON writes as they are, as `\u` and four digits or, the slash, behind a backslash. */
const UNESCAPED = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*$/;

/**
 * False when no value of a JSON text can hold a needle. Where an escape, or another way to write a number, could hide one, the answer
 * is true.
 */
function mayHold(json: string, needles: readonly Needle[]): boolean {
  if (json.includes('\\u')) return needles.length > 0;
  const escapes = json.includes('\\');
  const text = escapes ? json.replaceAll('\\/', '/') : json;
  return needles.some(
    (needle) => text.includes(needle.head) || NUMBER.test(needle.text) || (escapes && !UNESCAPED.test(needle.text)),
  );
}

function replaceAll(text: string, needles: readonly Needle[]): string {
  const present = needles.filter(({ head }) => text.includes(head));
  if (present.length === 0) return text;
  const secret = new Uint8Array(text.length);
  for (const needle of present) mark(text, needle, secret);
  let out = '';
  let end = 0;
  // Occurrences that touch or overlap are one stretch of secret text.
  for (let from = secret.indexOf(1); from !== -1; from = secret.indexOf(1, end)) {
    out += text.slice(end, from) + SCRUBBED;
    const next = secret.indexOf(0, from);
    end = next === -1 ? text.length : next;
  }
  return out + text.slice(end);
}

/** Marks each character of each occurrence, by Knuth, Morris and Pratt: `indexOf` alone can be driven to quadratic time. */
function mark(text: string, { text: needle, borders }: Needle, secret: Uint8Array): void {
  let matched = 0;
  let marked = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && code !== needle.charCodeAt(matched)) matched = borders[matched - 1] ?? 0;
    if (code === needle.charCodeAt(matched)) matched++;
    if (matched === needle.length) {
      secret.fill(1, Math.max(marked, at + 1 - matched), at + 1);
      marked = at + 1;
      matched = borders[matched - 1] ?? 0;
    }
  }
}

function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let at = 1; at < needle.length; at++) {
    while (length > 0 && needle.charCodeAt(at) !== needle.charCodeAt(length)) length = borders[length - 1] ?? 0;
    if (needle.charCodeAt(at) === needle.charCodeAt(length)) length++;
    borders[at] = length;
  }
  return borders;
}
