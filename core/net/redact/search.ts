import type { Needle } from './needles.ts';
import type { View } from './view.ts';

/** The maximum length of the window: only so many first bytes of each needle determine how far the search can skip. */
const MAX_WINDOW = 12;
/**
 * The minimum and maximum number of entries of the table of shifts, which says how far the search can skip. The table
 * is small, because each tool call creates one. With 32 entries for each pair of characters of a needle, few other
 * pairs share an entry.
 */
const MIN_TABLE = 256;
const MAX_TABLE = 4096;
const PLACES_PER_PAIR = 32;
/** A needle that needs more comparisons per byte of text is searched with the slower Knuth-Morris-Pratt algorithm. */
const COMPARISONS_PER_BYTE = 4;

/**
 * Maps characters that any alphabet (see needles.ts) treats as equal to the same value, so that all needles share one
 * table.
 */
const CLASS = Uint8Array.from({ length: 256 }, (_, code) => {
  if ((code >= 0x41 && code <= 0x5a) || (code >= 0x80 && code <= 0x9e)) return code + 0x20;
  if (code === 0x2b || code === 0x2d) return 0x20;
  return code === 0x5f ? 0x2f : code;
});

/**
 * Searches for many needles in one pass, in time linear in the text. It usually examines only every few bytes
 * (Wu-Manber algorithm). If a text is crafted to slow that down, it switches to an algorithm with a guaranteed bound.
 */
export class Search {
  readonly #needles: readonly Needle[];
  /** The lengths of the shortest and of the longest needle; Infinity and 0 if there is none. */
  readonly shortest: number;
  readonly longest: number;
  readonly #window: number;
  /** How far the window can be moved, by the last two characters in it. */
  readonly #shift: Uint8Array;
  readonly #mask: number;
  readonly #byEnd = new Map<number, Needle[]>();
  readonly #borders = new Map<Needle, Int32Array>();

  constructor(needles: readonly Needle[]) {
    this.#needles = needles;
    const lengths = needles.map(({ bytes }) => bytes.length);
    this.shortest = Math.min(...lengths);
    this.longest = Math.max(0, ...lengths);
    this.#window = Math.min(MAX_WINDOW, this.shortest);
    let size = MIN_TABLE;
    while (size < MAX_TABLE && size < needles.length * this.#window * PLACES_PER_PAIR) size *= 2;
    this.#mask = size - 1;
    this.#shift = new Uint8Array(size).fill(this.#window - 1);
    for (const needle of needles) {
      for (let at = 1; at < this.#window; at++) {
        const hash = this.#mask & hashOf(needle.bytes[at - 1] as number, needle.bytes[at] as number);
        this.#shift[hash] = Math.min(this.#shift[hash] as number, this.#window - 1 - at);
      }
      const end =
        this.#mask & hashOf(needle.bytes[this.#window - 2] as number, needle.bytes[this.#window - 1] as number);
      this.#byEnd.set(end, [...(this.#byEnd.get(end) ?? []), needle]);
    }
  }

  /** @param found is called with the start and the end (exclusive) of each occurrence */
  scan({ bytes, length }: View, found: (needle: Needle, start: number, end: number) => void): void {
    if (this.#needles.length === 0) return;
    /**
     * `work`: the number of comparisons per needle. `slow`: the needles with too many comparisons, each with the
     * position from which the slower algorithm searches for it.
     */
    let work: Map<Needle, number> | undefined;
    let slow: Map<Needle, number> | undefined;
    const mask = this.#mask;
    const last = this.#window - 1;
    for (let at = last; at < length; ) {
      const hash = mask & hashOf(bytes[at - 1] as number, bytes[at] as number);
      const shift = this.#shift[hash] as number;
      if (shift > 0) {
        at += shift;
        continue;
      }
      const start = at - last;
      for (const needle of this.#byEnd.get(hash) ?? []) {
        if (slow?.has(needle)) continue;
        const matched = matchAt(needle, bytes, start, length);
        if (matched === needle.bytes.length) found(needle, start, start + matched);
        if (matched < this.#window) continue;
        work ??= new Map();
        const done = (work.get(needle) ?? 0) + matched;
        work.set(needle, done);
        if (done > COMPARISONS_PER_BYTE * length) slow = (slow ?? new Map()).set(needle, start + 1);
      }
      at++;
    }
    for (const [needle, from] of slow ?? []) this.#scanSlowly(needle, bytes, from, length, found);
  }

  /**
   * Returns where the earliest occurrence begins that the end of the view may have cut off; the length of the view if
   * there is none.
   */
  openEnd({ bytes, length }: View): number {
    let earliest = length;
    for (const needle of this.#needles) {
      const from = Math.max(0, length - needle.bytes.length + 1);
      earliest = Math.min(earliest, length - this.#match(needle, bytes, from, length, () => {}));
    }
    return earliest;
  }

  #scanSlowly(
    needle: Needle,
    bytes: Uint8Array,
    from: number,
    length: number,
    found: (needle: Needle, start: number, end: number) => void,
  ): void {
    this.#match(needle, bytes, from, length, (end) => found(needle, end - needle.bytes.length, end));
  }

  /**
   * Searches with the Knuth-Morris-Pratt algorithm.
   *
   * @returns the number of bytes at the beginning of the needle that match the end of the text
   */
  #match(needle: Needle, bytes: Uint8Array, from: number, length: number, found: (end: number) => void): number {
    const { bytes: wanted, alphabet } = needle;
    const borders = this.#borders.get(needle) ?? bordersOf(wanted);
    this.#borders.set(needle, borders);
    let matched = 0;
    for (let at = from; at < length; at++) {
      const byte = alphabet[bytes[at] as number];
      while (matched > 0 && byte !== wanted[matched]) matched = borders[matched - 1] as number;
      if (byte === wanted[matched]) matched++;
      if (matched === wanted.length) {
        found(at + 1);
        matched = borders[matched - 1] as number;
      }
    }
    return matched;
  }
}

function hashOf(first: number, second: number): number {
  return ((CLASS[first] as number) << 5) ^ (CLASS[second] as number);
}

/** Returns how many bytes at the beginning of a needle match at a position. */
function matchAt({ bytes: wanted, alphabet }: Needle, bytes: Uint8Array, start: number, length: number): number {
  const most = Math.min(wanted.length, length - start);
  let matched = 0;
  while (matched < most && alphabet[bytes[start + matched] as number] === wanted[matched]) matched++;
  return matched;
}

/** Returns, for each prefix, the length of its longest proper prefix that is also its suffix. */
function bordersOf(needle: Uint8Array): Int32Array {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let at = 1; at < needle.length; at++) {
    while (length > 0 && needle[at] !== needle[length]) length = borders[length - 1] as number;
    if (needle[at] === needle[length]) length++;
    borders[at] = length;
  }
  return borders;
}
