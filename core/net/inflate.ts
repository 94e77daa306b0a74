import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, type ZlibOptions } from 'node:zlib';
import type { BodyBuffer } from '../budgets/body-buffer.ts';
import { EgressError } from './egress-error.ts';
import { refusedBody } from './refused-body.ts';

export interface InflateLimits {
  /** The largest decompressed body, in bytes. */
  maxBytes: number;
  /** The largest decompressed size as a multiple of the compressed size. */
  maxRatio: number;
  /**
   * The ratio is not checked up to this many decompressed bytes, because short repetitive bodies compress very well.
   */
  ratioFloorBytes: number;
}

type Decoder = ReturnType<typeof createGunzip>;

const DECODERS = new Map<string, (options: ZlibOptions) => Decoder>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
]);
/** The maximum output of one decoding step. Larger chunks need fewer event-loop turns, smaller ones less memory. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Decompresses a body (RFC 9110 §8.4) within limits.
 *
 * @param coding the Content-Encoding header; only one coding is supported, because servers rarely combine several
 * @param bufferOf creates the buffer for a decompressed body of at most this many bytes
 * @throws EgressError `too_large`, `busy`, or `invalid_response` for an unknown coding or bytes that cannot be decoded
 */
export async function inflate(
  body: Buffer,
  coding: string,
  limits: InflateLimits,
  bufferOf: (maxBytes: number) => BodyBuffer,
): Promise<Buffer> {
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  const create = name === 'deflate' && !hasZlibHeader(body) ? createInflateRaw : DECODERS.get(name);
  if (create === undefined) {
    throw new EgressError(
      'invalid_response',
      'The response has a Content-Encoding that is not supported (supported: gzip, br, deflate).',
      { sent: true },
    );
  }
  const maxBytes = Math.min(limits.maxBytes, Math.max(limits.ratioFloorBytes, body.length * limits.maxRatio));
  const chunkSize = Math.min(CHUNK_BYTES, Math.max(1024, body.length * 8));
  return run(create({ chunkSize }), name, body, maxBytes, bufferOf(maxBytes));
}

function run(decoder: Decoder, name: string, body: Buffer, maxBytes: number, inflated: BodyBuffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    decoder.on('data', (chunk: Buffer) => {
      const refusal = inflated.add(chunk);
      if (refusal === undefined) return;
      decoder.destroy(refusedBody(refusal, `The decompressed response is larger than ${maxBytes} bytes.`));
    });
    decoder.on('end', () => resolve(inflated.take()));
    decoder.on('error', (error) => {
      if (error instanceof EgressError) reject(error);
      else
        reject(
          new EgressError('invalid_response', `The response cannot be decompressed: it is not valid ${name} data.`, {
            sent: true,
            cause: error,
          }),
        );
    });
    decoder.end(body);
  });
}

/**
 * Whether a body begins with a zlib header, whose first byte has 8 in its low half (RFC 1950 §2.2). Some servers send
 * raw DEFLATE data without this header, although the coding `deflate` means zlib.
 */
function hasZlibHeader(body: Buffer): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8;
}
