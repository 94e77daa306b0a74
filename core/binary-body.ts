/** The body of an answer that is not JSON. */
export class BinaryBody {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}
