/** The body of a response that is not JSON. */
export class BinaryBody {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}
