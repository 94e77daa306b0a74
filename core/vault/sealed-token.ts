import type { KeyObject } from 'node:crypto';
import { createSaltedSealer, openSalted, type RandomSource } from './aead.ts';
import { deriveKey } from './derive-key.ts';
import { lengthPrefixed } from './length-prefix.ts';

const VERSION = 1;
const EXPIRY_BYTES = 8;
const MAX_CHARS = 4096;

export interface SealedTokens {
  /**
   * @param purpose constant that identifies the kind of token: a token of one kind cannot be used as another
   * @param associatedData values that the token is bound to but does not contain, in a fixed order
   * @param payload well-formed text, at most about 2 KiB, because tokens are sent in URLs
   * @param expiresAt milliseconds UTC
   * @returns base64url
   */
  seal(purpose: string, associatedData: readonly string[], payload: string, expiresAt: number): string;
  /**
   * @returns the payload; `null` if the token was altered, has expired, or is of another kind or bound to other values
   */
  open(purpose: string, associatedData: readonly string[], token: string): string | null;
  /** As `open`, with the expiry in milliseconds UTC. */
  openUntil(
    purpose: string,
    associatedData: readonly string[],
    token: string,
  ): { payload: string; expiresAt: number } | null;
  /** Encrypts bytes of any length that are stored and not sent, bound in the same way as a token. */
  sealBytes(purpose: string, associatedData: readonly string[], payload: Uint8Array, expiresAt: number): Buffer;
  /** Decrypts the output of `sealBytes`, as `open` does. */
  openBytes(purpose: string, associatedData: readonly string[], sealed: Uint8Array): Buffer | null;
}

/**
 * Creates opaque tokens that callers return later: encrypted, authenticated, bound to their use, and with an expiry.
 *
 * @param key 32-byte secret of the deployment
 * @param now milliseconds UTC
 * @param maxChars longer texts are rejected without decoding
 */
export function createSealedTokens(
  key: KeyObject,
  now: () => number,
  random: RandomSource,
  maxChars = MAX_CHARS,
): SealedTokens {
  const root = deriveKey(key, 'sealed token');
  const sealSalted = createSaltedSealer(root, random);

  const sealBytes: SealedTokens['sealBytes'] = (purpose, associatedData, payload, expiresAt) => {
    const plaintext = Buffer.alloc(EXPIRY_BYTES + payload.length);
    plaintext.writeBigUInt64BE(BigInt(expiresAt));
    plaintext.set(payload, EXPIRY_BYTES);
    return Buffer.concat([Buffer.from([VERSION]), sealSalted(bind(purpose, associatedData), plaintext)]);
  };

  const openPlaintext = (purpose: string, associatedData: readonly string[], sealed: Uint8Array) => {
    if (sealed[0] !== VERSION) return null;
    const body = Buffer.from(sealed.buffer, sealed.byteOffset + 1, sealed.length - 1);
    const plaintext = tryOpen(root, bind(purpose, associatedData), body);
    const expiresAt = plaintext ? Number(plaintext.readBigUInt64BE()) : 0;
    return plaintext && expiresAt > now() ? { payload: plaintext.subarray(EXPIRY_BYTES), expiresAt } : null;
  };

  const openUntil: SealedTokens['openUntil'] = (purpose, associatedData, token) => {
    const bytes = token.length > maxChars ? null : decodeCanonical(token);
    const opened = bytes && openPlaintext(purpose, associatedData, bytes);
    return opened && { payload: opened.payload.toString('utf8'), expiresAt: opened.expiresAt };
  };

  return {
    sealBytes,
    openBytes: (purpose, associatedData, sealed) => openPlaintext(purpose, associatedData, sealed)?.payload ?? null,
    seal: (purpose, associatedData, payload, expiresAt) =>
      sealBytes(purpose, associatedData, Buffer.from(payload), expiresAt).toString('base64url'),
    openUntil,
    open: (purpose, associatedData, token) => openUntil(purpose, associatedData, token)?.payload ?? null,
  };
}

function bind(purpose: string, associatedData: readonly string[]): Buffer {
  return lengthPrefixed([`valetkey sealed token ${VERSION}`, purpose, ...associatedData]);
}

/** Decodes the only valid text of a token: padding, white space and unused bits in the last character are rejected. */
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
