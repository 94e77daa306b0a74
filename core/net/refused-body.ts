import type { BodyRefusal } from '../budgets/body-buffer.ts';
import { EgressError } from './egress-error.ts';

/** The failure of a call whose response cannot be taken. @param tooLarge a public sentence */
export function refusedBody(refusal: BodyRefusal, tooLarge: string): EgressError {
  if (refusal === 'size') return new EgressError('too_large', tooLarge, { sent: true });
  return refusal === 'pieces' ? tooMany('pieces') : noRoom(true);
}

/** A server that sends this much of something that has no use spends the time of others. */
export function tooMany(what: 'interim responses' | 'pieces'): EgressError {
  return new EgressError('invalid_response', `The response has too many ${what}.`, { sent: true });
}

/** The bodies of other calls take all the memory that bodies may take. */
export function noRoom(sent: boolean): EgressError {
  return new EgressError('busy', 'The service has no memory for the body of this call. Try again later.', {
    sent,
    retryAfterMs: 1_000,
  });
}
