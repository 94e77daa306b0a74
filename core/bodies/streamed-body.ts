/** The body of a response that is written in chunks. */
export class StreamedBody {
  readonly #open: (signal: AbortSignal) => AsyncGenerator<string>;
  #chunks: AsyncGenerator<string> | undefined;
  #first: IteratorResult<string> | undefined;

  /** @param open starts the stream; its signal is aborted when the client has disconnected */
  constructor(open: (signal: AbortSignal) => AsyncGenerator<string>) {
    this.#open = open;
  }

  /**
   * Creates the first chunk. Call it before the head of the response is written.
   *
   * @throws the error of creating the chunk. The server can still return an error response for it
   */
  async begin(signal: AbortSignal): Promise<void> {
    this.#chunks = this.#open(signal);
    this.#first = await this.#chunks.next();
  }

  /** The chunks, including the first one. */
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      if (this.#first && !this.#first.done) yield this.#first.value;
      if (this.#chunks) yield* this.#chunks;
    } finally {
      await this.end();
    }
  }

  /** Releases the resources of the stream. */
  async end(): Promise<void> {
    await this.#chunks?.return(undefined);
  }
}
