import type { KeyObject } from 'node:crypto';
import { openSalted, type RandomSource, sealSalted } from './aead.ts';
import { deriveKey } from './derive-key.ts';
import { lengthPrefixed } from './length-prefix.ts';

const VERSION = 1;
const EXPIRY_BYTES = 8;
const MAX_CHARS = 4096;

export interface SealedTokens {
  /**
   * @param purpose constant that names the kind of token: a token of one kind never opens as another
   * @param associatedData what the token is bound to but does not carry, in a fixed order
   * @param payload well-formed text, at most 2 KiB or so: the token travels in URLs
   * @param expiresAt milliseconds UTC
   * @returns base64url
   */
  seal(purpose: string, associatedData: readonly string[], payload: string, expiresAt: number): string;
  /** @returns the payload; `null` for a token that is altered, expired, or was made for something else */
  open(purpose: string, associatedData: readonly string[], token: string): string | null;
}

/**
 * Opaque strings for callers to bring back: encrypted, authenticated, bound to what they were made for, and dated.
 *
 * @param key 32-byte secret of the deployment
 * @param now milliseconds UTC
 * @param maxChars longer texts are not looked at
 */
export function createSealedTokens(
  key: KeyObject,
  now: () => number,
  random: RandomSource,
  maxChars = MAX_CHARS,
): SealedTokens {
  const root = deriveKey(key, 'sealed token');
  return {
    seal(purpose, associatedData, payload, expiresAt) {
      const plaintext = Buffer.alloc(EXPIRY_BYTES + Buffer.byteLength(payload));
      plaintext.writeBigUInt64BE(BigInt(expiresAt));
      plaintext.write(payload, EXPIRY_BYTES);
      const body = sealSalted(root, bind(purpose, associatedData), plaintext, random);
      return Buffer.concat([Buffer.from([VERSION]), body]).toString('base64url');
    },

    open(purpose, associatedData, token) {
      const bytes = token.length > maxChars ? null : decodeCanonical(token);
      if (bytes?.[0] !== VERSION) return null;
      const plaintext = tryOpen(root, bind(purpose, associatedData), bytes.subarray(1));
      if (plaintext === null || Number(plaintext.readBigUInt64BE()) <= now()) return null;
      return plaintext.toString('utf8', EXPIRY_BYTES);
    },
  };
}

function bind(purpose: string, associatedData: readonly string[]): Buffer {
  return lengthPrefixed([`valetkey sealed token ${VERSION}`, purpose, ...associatedData]);
}

/** One spelling for each token: padding, white space and stray bits in the last character are refused. */
function decodeCanonical(token: string): Buffer | null {
  const bytes = Buffer.from(token, 'base64url');
  return bytes.toString('base64url') === token ? bytes : null;
}

function tryOpen(root: KeyObject, associatedData: Buffer, body: Buffer): Buffer | null {
  try {
    return openSalted(root, associatedData, body);
  } catch {
    return null;
  }
}
