import type { SecretFinder } from './find.ts';

/** The replacement for a secret. */
export const SCRUBBED = '[secret]';
const REPLACEMENT = Buffer.from(SCRUBBED);
const EMPTY = Buffer.alloc(0);
/**
 * The bytes that one byte of a secret usually takes at most when it is escaped: `&#x00000041;` has twelve. If more
 * bytes are held back than the longest form of a secret takes with such escapes, the first of them are output.
 */
const LONGEST_ESCAPE = 16;
const MIN_HELD = 1024;
/** The maximum number of bytes that are kept after their output, as context for the following bytes. */
const CONTEXT = 64;

/**
 * Removes secrets from bytes that arrive in chunks. Only bytes that could be the beginning of a secret are held back
 * until more arrive.
 */
export class StreamScrubber {
  readonly #finder: SecretFinder;
  readonly #mostHeld: number;
  /**
   * The bytes to search. The first `#passed` of them were already output. They are kept, because they determine whether
   * the following bytes are an escape or a line of base64.
   */
  #held: Buffer = EMPTY;
  #passed = 0;
  /**
   * How many bytes must be held before the next search: searching after each of many small chunks would take quadratic
   * time.
   */
  #lookAt = 0;

  constructor(finder: SecretFinder) {
    this.#finder = finder;
    this.#mostHeld = finder.longest * LONGEST_ESCAPE + MIN_HELD;
  }

  /** @returns the bytes that can be output */
  add(chunk: Buffer): Buffer {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    if (this.#held.length - this.#passed < this.#lookAt) return EMPTY;
    const { ranges, open } = this.#finder.find(this.#held, false);
    const end = Math.max(this.#passed, open, this.#held.length - this.#mostHeld);
    const cut = Math.max(this.#passed, beforeRange(ranges, end));
    const ready = replaced(this.#held, this.#passed, cut, ranges);
    const context = Math.max(0, cut - CONTEXT);
    this.#held = this.#held.subarray(context);
    this.#passed = cut - context;
    this.#lookAt = Math.ceil((this.#held.length - this.#passed) * 1.25);
    return ready;
  }

  /** @returns the last bytes */
  end(): Buffer {
    const { ranges } = this.#finder.find(this.#held, true);
    const ready = replaced(this.#held, this.#passed, this.#held.length, ranges);
    this.#held = EMPTY;
    this.#passed = 0;
    return ready;
  }
}

/**
 * Returns the place, or the beginning of the range that contains it. Such a range is not output yet, because an
 * overlapping secret may extend it.
 */
function beforeRange(ranges: readonly number[], place: number): number {
  for (let at = 0; at < ranges.length; at += 2) {
    const [start, end] = [ranges[at] as number, ranges[at + 1] as number];
    if (start < place && place < end) return start;
  }
  return place;
}

/** Returns part of the bytes, with each range replaced. */
export function replaced(bytes: Buffer, start: number, end: number, ranges: readonly number[]): Buffer {
  const parts: Buffer[] = [];
  let at = start;
  for (let index = 0; index < ranges.length; index += 2) {
    const [from, to] = [ranges[index] as number, ranges[index + 1] as number];
    if (to <= start || from >= end) continue;
    parts.push(bytes.subarray(at, Math.max(at, from)), REPLACEMENT);
    at = to;
  }
  if (parts.length === 0) return bytes.subarray(start, end);
  return Buffer.concat([...parts, bytes.subarray(at, Math.max(at, end))]);
}
