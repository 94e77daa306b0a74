const EMPTY = Buffer.alloc(0);

/**
 * Collects a body up to a size. Chunks are copied into one growing buffer: a body of a million one-byte chunks would
 * otherwise hold a hundred times its size in small objects.
 */
export class BodyBuffer {
  readonly #maxBytes: number;
  #bytes: Buffer = EMPTY;
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @returns false when the body would be larger than allowed */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#maxBytes) return false;
    if (this.#length === 0) {
      // Most bodies come in one chunk, which needs no copy.
      this.#bytes = chunk;
    } else {
      this.#reserve(length);
      chunk.copy(this.#bytes, this.#length);
    }
    this.#length = length;
    return true;
  }

  take(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.min(this.#maxBytes, Math.max(length, this.#bytes.length * 2, 16_384)));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}
