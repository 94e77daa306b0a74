import type { BodyRefusal } from '../budgets/body-buffer.ts';
import { EgressError } from './egress-error.ts';

/**
 * Returns the error of a call whose response body was rejected.
 *
 * @param tooLarge the message for a body that is too large
 */
export function refusedBody(refusal: BodyRefusal, tooLarge: string): EgressError {
  if (refusal === 'size') return new EgressError('too_large', tooLarge, { sent: true });
  return refusal === 'chunks' ? tooMany('chunks') : bodyMemoryExhausted(true);
}

/** Returns the error for a response with too many interim responses or chunks, which cost time and memory. */
export function tooMany(what: 'interim responses' | 'chunks'): EgressError {
  return new EgressError('invalid_response', `The response has too many ${what}.`, { sent: true });
}

/**
 * Returns the error for a call whose bodies do not fit in the memory that is available for bodies.
 *
 * @param sent whether the request may have been sent
 */
export function bodyMemoryExhausted(sent: boolean): EgressError {
  return new EgressError(
    'busy',
    'The service does not have enough free memory for the body of this call. Try again later.',
    {
      sent,
      retryAfterMs: 1_000,
    },
  );
}
