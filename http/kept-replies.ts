import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SealedTokens } from '../core/vault/sealed-token.ts';
import type { Reply } from './contract.ts';

export type KeptReply = Pick<Reply, 'status' | 'body' | 'headers'>;

const PURPOSE = 'idempotent reply';
/** Below this size compression saves less than it costs. */
const COMPRESSED_FROM_BYTES = 1024;
const [PLAIN, DEFLATED] = [0, 1];
/** Far above any response; a text that inflates to more was not made here. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Seals a reply for a later request with the same idempotency key.
 *
 * @param binding what names the key: the reply opens for it alone
 * @param expiresAt milliseconds UTC
 */
export function sealReply(sealed: SealedTokens, binding: string[], reply: KeptReply, expiresAt: number): Buffer {
  const { status, body, headers } = reply;
  const text = Buffer.from(JSON.stringify({ status, body, headers }));
  const payload =
    text.length < COMPRESSED_FROM_BYTES
      ? [Buffer.from([PLAIN]), text]
      : [Buffer.from([DEFLATED]), deflateRawSync(text, { level: 1 })];
  return sealed.sealBytes(PURPOSE, binding, Buffer.concat(payload), expiresAt);
}

/** @returns null for a reply that was altered, is too old, or was kept for another key */
export function openReply(sealed: SealedTokens, binding: string[], bytes: Buffer): KeptReply | null {
  const payload = sealed.openBytes(PURPOSE, binding, bytes);
  if (payload === null) return null;
  const text = payload.subarray(1);
  const plain = payload[0] === DEFLATED ? inflateRawSync(text, { maxOutputLength: MAX_BYTES }) : text;
  return JSON.parse(plain.toString('utf8')) as KeptReply;
}
