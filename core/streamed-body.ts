/** The body of a response that is written piece by piece. */
export class StreamedBody {
  readonly #open: (signal: AbortSignal) => AsyncIterable<string>;

  /** @param open starts the stream; its signal is aborted when the client has disconnected */
  constructor(open: (signal: AbortSignal) => AsyncIterable<string>) {
    this.#open = open;
  }

  open(signal: AbortSignal): AsyncIterable<string> {
    return this.#open(signal);
  }
}
