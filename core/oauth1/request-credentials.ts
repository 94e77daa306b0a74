import { outcomeOfProblem } from '../oauth/problem.ts';
import { type TokenFailure, unavailable } from '../oauth/refresh-outcome.ts';
import { readRetryAfter } from '../oauth/retry-after.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import { outcomeOfRefusal, type Step, unusable } from './outcome.ts';
import { type CredentialsResponse, readCredentialsResponse } from './read-response.ts';
import { clockDifference, sendByServerClock, type TimedAttempt } from './server-clock.ts';
import { type OAuth1Token, type Signing, signRequest } from './sign-request.ts';

export interface CredentialsRequest extends Signing {
  step: Step;
  endpoint: URL;
  /** The additional protocol parameters of this step: `oauth_callback` or `oauth_verifier`. */
  protocol: Readonly<Record<string, string>>;
  /** Restricted to the origin of the endpoint, with a time limit. */
  fetch: ProtocolFetch;
}

export type CredentialsOutcome = { ok: true; token: OAuth1Token; others: CredentialsResponse['others'] } | TokenFailure;

/**
 * Requests credentials from a provider by a signed POST. If a server with a different clock rejects the request, the
 * request is repeated once with the server's time. This is safe, because a rejected request does not use up a token.
 *
 * @throws errors that are bugs
 */
export async function requestCredentials(request: CredentialsRequest): Promise<CredentialsOutcome> {
  try {
    return await sendByServerClock((aheadMs) => attempt({ ...request, now: () => request.now() + aheadMs }));
  } catch (error) {
    return outcomeOfProblem(error);
  }
}

async function attempt(request: CredentialsRequest): Promise<TimedAttempt<CredentialsOutcome>> {
  const { endpoint, step, protocol, fetch, now } = request;
  // The body is an empty form, so that the protocol parameters can be added to it for providers that require them
  // there.
  const unsigned = {
    method: 'POST',
    url: endpoint.href,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: '',
  };
  const { method, url, headers, body } = signRequest(unsigned, request, protocol);
  const response = await fetch(url, { method, headers, body, redirect: 'manual' });
  const { status } = response;
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), now());
  if (status === 429) return { outcome: unavailable('rate_limited', false, retryAfterMs) };
  if (status >= 500) return { outcome: unavailable('server_error', true, retryAfterMs) };
  const answer = await readCredentialsResponse(response);
  if (!response.ok || answer?.problem !== undefined) {
    const outcome = outcomeOfRefusal(step, status, answer?.problem);
    return {
      outcome,
      ...(outcome.kind !== 'unavailable' && { clockDifference: clockDifference(response.headers, now()) }),
    };
  }
  if (answer?.token === undefined)
    return { outcome: unusable("The provider's response has no valid token and token secret.") };
  return { outcome: { ok: true, token: answer.token, others: answer.others } };
}
