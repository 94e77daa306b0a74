import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SealedTokens } from '../../core/vault/sealed-token.ts';
import type { Reply } from '../contract.ts';

export type StoredReply = Pick<Reply, 'status' | 'body' | 'headers'>;

const PURPOSE = 'idempotent reply';
/** Below this size, compression saves less than it costs. */
const COMPRESSED_FROM_BYTES = 1024;
const [PLAIN, DEFLATED] = [0, 1];
/** The maximum decompressed size, far above any response. */
const MAX_BYTES = 64 * 1024 * 1024;

const OPTIONS = { level: 1 };
const deflateInThread = promisify(deflateRaw) as (text: Buffer, options: typeof OPTIONS) => Promise<Buffer>;

/**
 * Converts a response to bytes for {@link sealReply}, and compresses it unless it is small. Synchronous, for use in a
 * transaction.
 */
export function packReply(reply: StoredReply): Buffer {
  const text = textOf(reply);
  return text.length < COMPRESSED_FROM_BYTES ? marked(PLAIN, text) : marked(DEFLATED, deflateRawSync(text, OPTIONS));
}

/** Does the same as `packReply`, but compresses in a thread. */
export async function packReplyInThread(reply: StoredReply): Promise<Buffer> {
  const text = textOf(reply);
  return text.length < COMPRESSED_FROM_BYTES
    ? marked(PLAIN, text)
    : marked(DEFLATED, await deflateInThread(text, OPTIONS));
}

/**
 * Encrypts a packed response for a later request with the same idempotency key.
 *
 * @param binding identifies the key: the response can be decrypted for this key only
 * @param expiresAt milliseconds UTC
 */
export function sealReply(sealed: SealedTokens, binding: string[], packed: Buffer, expiresAt: number): Buffer {
  return sealed.sealBytes(PURPOSE, binding, packed, expiresAt);
}

function textOf({ status, body, headers }: StoredReply): Buffer {
  return Buffer.from(JSON.stringify({ status, body, headers }));
}

function marked(form: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([form]), bytes]);
}

/** @returns null if the response was altered, has expired, or belongs to another key */
export function openReply(sealed: SealedTokens, binding: string[], bytes: Buffer): StoredReply | null {
  const payload = sealed.openBytes(PURPOSE, binding, bytes);
  if (payload === null) return null;
  const text = payload.subarray(1);
  const plain = payload[0] === DEFLATED ? inflateRawSync(text, { maxOutputLength: MAX_BYTES }) : text;
  return JSON.parse(plain.toString('utf8')) as StoredReply;
}
