/** Bytes after decoding, with a mapping to the bytes they were decoded from. */
export interface View {
  bytes: Uint8Array;
  length: number;
  /** The view that was decoded; undefined for the source itself. */
  from: View | undefined;
  /**
   * Pairs of an index in this view and the corresponding index in `from`, in order, for each place where their lengths
   * differ. Between two pairs, both advance byte by byte.
   */
  jumps: readonly number[];
}

export function viewOf(source: Uint8Array): View {
  return { bytes: source, length: source.length, from: undefined, jumps: [] };
}

/** Returns the index in the source for an index in a view. */
export function startOf(view: View, index: number): number {
  let place = index;
  for (let at: View = view; at.from; at = at.from) place = stepBack(at.jumps, place);
  return place;
}

function stepBack(jumps: readonly number[], index: number): number {
  let low = 0;
  let high = jumps.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((jumps[2 * middle] as number) <= index) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? index : (jumps[2 * low - 1] as number) + index - (jumps[2 * low - 2] as number);
}

/** Memory for views, reused for each chunk of a stream. */
export class Arena {
  readonly #held = new Map<string, Uint8Array>();

  /** Returns memory of at least this size. Memory of the same name is reused and overwritten. */
  take(name: string, size: number): Uint8Array {
    const held = this.#held.get(name);
    if (held && held.length >= size) return held;
    const made = new Uint8Array(size);
    this.#held.set(name, made);
    return made;
  }
}

/** Writes a view that is at most as long as the view it is decoded from. */
export class ViewWriter {
  readonly #from: View;
  readonly #bytes: Uint8Array;
  readonly #jumps: number[] = [];
  #length = 0;

  constructor(from: View, name: string, arena: Arena) {
    this.#from = from;
    this.#bytes = arena.take(name, from.length);
  }

  /** Copies bytes without decoding. */
  copy(start: number, end: number): void {
    if (end - start > 32) {
      this.#bytes.set(this.#from.bytes.subarray(start, end), this.#length);
      this.#length += end - start;
    } else {
      for (let at = start; at < end; at++) this.#bytes[this.#length++] = this.#from.bytes[at] as number;
    }
  }

  put(byte: number): void {
    this.#bytes[this.#length++] = byte;
  }

  /** Writes a code point as UTF-8, which is never longer than its escape. */
  putCodePoint(code: number): void {
    if (code < 0x80) {
      this.put(code);
      return;
    }
    if (code < 0x800) {
      this.put(0xc0 | (code >> 6));
    } else {
      if (code < 0x10000) {
        this.put(0xe0 | (code >> 12));
      } else {
        this.put(0xf0 | (code >> 18));
        this.put(0x80 | ((code >> 12) & 0x3f));
      }
      this.put(0x80 | ((code >> 6) & 0x3f));
    }
    this.put(0x80 | (code & 0x3f));
  }

  /** Sets the index in `from` for the bytes that are written next. */
  jump(index: number): void {
    this.#jumps.push(this.#length, index);
  }

  done(): View {
    // The memory after the end contains older data.
    const bytes = this.#bytes.subarray(0, this.#length);
    return { bytes, length: bytes.length, from: this.#from, jumps: this.#jumps };
  }
}
