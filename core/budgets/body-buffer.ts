import type { ByteHold } from './byte-budget.ts';

export interface BodyBufferOptions {
  /** The largest body, in bytes. */
  maxBytes: number;
  /** The maximum number of chunks of a body: each costs processing time, even if it is small. */
  maxChunks: number;
  hold: Pick<ByteHold, 'grow'>;
  /** Bytes that the hold has already taken for this body, or that need not be counted. */
  free: number;
}

/** Why a body is rejected: its size, its number of chunks, or no space in the budget. */
export type BodyRefusal = 'size' | 'chunks' | 'room';

const EMPTY = Buffer.alloc(0);
const FIRST_BYTES = 16 * 1024;

/**
 * Collects a body within a size limit and a memory budget. Chunks are copied into one growing buffer: a body of a
 * million one-byte chunks would otherwise use a hundred times its size in small objects.
 */
export class BodyBuffer {
  readonly #options: BodyBufferOptions;
  #bytes: Buffer = EMPTY;
  #length = 0;
  #chunks = 0;
  /** Bytes of memory that are counted in the budget. */
  #counted: number;

  constructor(options: BodyBufferOptions) {
    this.#options = options;
    this.#counted = options.free;
  }

  /** Adds a chunk. @returns why the body is rejected; undefined if the chunk was accepted */
  add(chunk: Buffer): BodyRefusal | undefined {
    const length = this.#length + chunk.length;
    if (length > this.#options.maxBytes) return 'size';
    if (++this.#chunks > this.#options.maxChunks) return 'chunks';
    if (this.#length === 0) {
      if (!this.#count(length)) return 'room';
      // Most bodies come in one chunk, which needs no copy.
      this.#bytes = chunk;
    } else {
      if (!this.#reserve(length)) return 'room';
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
    return undefined;
  }

  take(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(length: number): boolean {
    if (length <= this.#bytes.length) return true;
    const size = Math.min(this.#options.maxBytes, Math.max(length, this.#bytes.length * 2, FIRST_BYTES));
    if (!this.#count(size)) return false;
    const grown = Buffer.allocUnsafeSlow(size);
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
    return true;
  }

  #count(size: number): boolean {
    if (size <= this.#counted) return true;
    if (!this.#options.hold.grow(size - this.#counted)) return false;
    this.#counted = size;
    return true;
  }
}
