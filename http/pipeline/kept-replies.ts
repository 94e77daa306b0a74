import { STORED } from '../../core/budgets.ts';
import { ApiError } from '../../core/errors.ts';
import type { IdempotencyReply } from '../../db/store.ts';
import type { Reply } from '../contract.ts';

/**
 * Returns a response as it is stored: without its content if the client has no space for it.
 *
 * @param keptBytes what the client has stored
 */
export function kept({ status }: Reply, sealed: Buffer, keptBytes: number): IdempotencyReply {
  return { status, sealedReply: keptBytes + sealed.length > STORED.keptRepliesBytes ? null : sealed };
}

/** Whether there is no space for another key. */
export function isFull(keptBytes: number): boolean {
  return keptBytes + STORED.idempotencyKeyBytes > STORED.idempotencyBytes;
}

export function tooManyKeys(): ApiError {
  const detail =
    'The client has used too many idempotency keys within 24 hours. Send the request later, or without a key.';
  return new ApiError('RATE_LIMITED', detail);
}
