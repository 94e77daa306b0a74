import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflateRaw, inflate as inflateZlib } from 'node:zlib';
import { EgressError } from './egress-error.ts';
import { codeOf } from './transport-error.ts';

export interface InflateLimits {
  /** Largest inflated body, in bytes. */
  maxBytes: number;
  /** Largest inflated size as a multiple of the compressed one. */
  maxRatio: number;
  /** Up to this many inflated bytes the ratio does not matter: short repetitive bodies shrink far. */
  ratioFloorBytes: number;
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['br', promisify(brotliDecompress)],
  ['deflate', promisify(inflateZlib)],
]);
const raw: Decoder = promisify(inflateRaw);

/**
 * Undoes a content coding (RFC 9110 §8.4) within limits.
 *
 * @param coding the Content-Encoding header; one coding, since no server stacks them for a client that did not ask
 * @throws EgressError `too_large`, or `invalid_response` for an unknown coding or bytes that do not fit it
 */
export async function inflate(body: Buffer, coding: string, limits: InflateLimits): Promise<Buffer> {
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  const decode = name === 'deflate' && !hasZlibHeader(body) ? raw : DECODERS.get(name);
  if (decode === undefined) {
    throw new EgressError('invalid_response', 'The answer has a content coding that was not asked for.', {
      sent: true,
    });
  }
  const byRatio = Math.max(limits.ratioFloorBytes, body.length * limits.maxRatio);
  try {
    return await decode(body, { maxOutputLength: Math.min(limits.maxBytes, byRatio) });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') {
      throw new EgressError('too_large', 'The inflated answer is too large.', { sent: true });
    }
    throw new EgressError('invalid_response', 'The answer cannot be inflated.', { sent: true, cause: error });
  }
}

/** Some servers send bare DEFLATE under the name that means zlib; the low half of a zlib header's first byte is 8 (RFC 1950 §2.2). */
function hasZlibHeader(body: Buffer): boolean {
  return ((body[0] ?? 0) & 0x0f) === 8;
}
