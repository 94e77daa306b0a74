import { SecretFinder } from './redact/find.ts';
import { replaced, SCRUBBED, StreamScrubber } from './redact/stream.ts';

export { SCRUBBED } from './redact/stream.ts';

/**
 * Secrets shorter than this are not removed: replacing them would make texts unreadable, and they are too short to
 * protect anything.
 */
export const MIN_SECRET_LENGTH = 4;

/**
 * Objects and lists nested deeper than this are replaced as a whole, because the walk is recursive. Useful responses
 * are not nested that deeply.
 */
const MAX_DEPTH = 200;
/** Longer inputs are processed in parts of this many bytes to limit memory. */
const PIECE = 256 * 1024;
/** The maximum number of UTF-8 bytes of one UTF-16 code unit. */
const MOST_BYTES = 3;

export interface Scrubber {
  /** Replaces secrets in a text, or in the texts, keys and numbers of a JSON value. */
  <T>(value: T): T;
  /**
   * Does the same for a value that was parsed from JSON text. The text is searched first, which is much faster than
   * walking the value. If the text contains no secret, as usual, the value is returned unchanged. If a secret is
   * numeric, the value is always walked instead.
   *
   * @param json UTF-8
   */
  parsed<T>(value: T, json: Buffer): T;
  /** Does the same for bytes of any kind. If they contain no secret, the same object is returned. */
  bytes(bytes: Buffer): Buffer;
}

/**
 * Creates a function that removes secrets from results, errors and log records, so that a third party that echoes a
 * credential does not reveal it to the agent (threat E5). The time is linear in the length of the text.
 *
 * A secret is found in upper and lower case, in hexadecimal, in base32, in UTF-16, and in base64 and base64url at any
 * alignment, encoded once or twice. Line breaks within the encoded forms are ignored. A secret is also found inside
 * several levels of escapes: percent-encoding and forms, character references of HTML and XML, backslash escapes as in
 * JSON, and quoted-printable. A secret is not found in compressed or encrypted data.
 *
 * @param secrets plaintexts; those shorter than MIN_SECRET_LENGTH are ignored
 */
export function createScrubber(secrets: readonly string[]): Scrubber {
  const usable = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  if (usable.length === 0) return Object.assign(same, { parsed: same, bytes: same });
  const finder = new SecretFinder(usable);
  const bytes = (given: Buffer) => cleanBytes(finder, given);
  const text = (given: string) => {
    if (given.length * MOST_BYTES < finder.shortest) return given;
    const before = Buffer.from(given);
    const after = bytes(before);
    return after === before ? given : after.toString();
  };
  const scrubbed = <T>(value: T): T => walk(value, text, 0) as T;
  const hasNumber = usable.some((secret) => /^[0-9eE.+-]*$/.test(secret));
  // The search of JSON text could miss a numeric secret, because JSON can write 1000 as 1e3. So the value is walked.
  const parsed = <T>(value: T, json: Buffer): T => (hasNumber || bytes(json) !== json ? scrubbed(value) : value);
  return Object.assign(scrubbed, { parsed, bytes });
}

function same<T>(value: T): T {
  return value;
}

/** Creates a scrubber for bytes that arrive in chunks. */
export function createStreamScrubber(secrets: readonly string[]): { add(chunk: Buffer): Buffer; end(): Buffer } {
  const usable = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  if (usable.length === 0) return { add: same, end: () => Buffer.alloc(0) };
  return new StreamScrubber(new SecretFinder(usable));
}

/** Removes secrets from one value. */
export function scrub<T>(value: T, secrets: readonly string[]): T {
  return createScrubber(secrets)(value);
}

function cleanBytes(finder: SecretFinder, bytes: Buffer): Buffer {
  if (bytes.length <= PIECE) {
    const { ranges } = finder.find(bytes, true);
    return ranges.length === 0 ? bytes : replaced(bytes, 0, bytes.length, ranges);
  }
  const stream = new StreamScrubber(finder);
  const parts: Buffer[] = [];
  let isClean = true;
  for (let at = 0; at < bytes.length; at += PIECE) parts.push(stream.add(bytes.subarray(at, at + PIECE)));
  parts.push(stream.end());
  let at = 0;
  for (const part of parts) {
    isClean &&= part.length === 0 || part.equals(bytes.subarray(at, at + part.length));
    at += part.length;
  }
  return isClean && at === bytes.length ? bytes : Buffer.concat(parts);
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
  // `Object.fromEntries` defines own properties, so a key `__proto__` is safe.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), walk(item, clean, depth + 1)]));
}
