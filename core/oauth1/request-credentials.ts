import { outcomeOfProblem } from '../oauth/problem.ts';
import { type TokenFailure, unavailable } from '../oauth/refresh-outcome.ts';
import { readRetryAfter } from '../oauth/retry-after.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import { outcomeOfRefusal, type Step, unusable } from './outcome.ts';
import { type CredentialsAnswer, readCredentialsAnswer } from './read-answer.ts';
import { clockDifference } from './server-clock.ts';
import { type OAuth1Token, type Signing, signRequest } from './sign-request.ts';

export interface CredentialsRequest extends Signing {
  step: Step;
  endpoint: URL;
  /** Parameters of the protocol that belong to this step. */
  protocol: Readonly<Record<string, string>>;
  /** Pinned to the origin of the endpoint, and bounded in time. */
  fetch: ProtocolFetch;
}

export type CredentialsOutcome = { ok: true; token: OAuth1Token; others: CredentialsAnswer['others'] } | TokenFailure;

type Attempt = { outcome: CredentialsOutcome; clockDifference?: number };

/**
 * Asks a provider for credentials: a signed POST, judged. A request that is refused by a server whose clock differs is made once
 * more with the server's time; the first was refused, so nothing has been spent.
 *
 * @throws what is a mistake of ours
 */
export async function requestCredentials(request: CredentialsRequest): Promise<CredentialsOutcome> {
  try {
    const first = await attempt(request);
    const ahead = first.clockDifference;
    if (ahead === undefined) return first.outcome;
    return (await attempt({ ...request, now: () => request.now() + ahead })).outcome;
  } catch (error) {
    return outcomeOfProblem(error);
  }
}

async function attempt(request: CredentialsRequest): Promise<Attempt> {
  const { endpoint, step, protocol, fetch, now } = request;
  // An empty form: parameters of the protocol can go into it where the provider wants them there.
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
  const answer = await readCredentialsAnswer(response);
  if (!response.ok || answer?.problem !== undefined) {
    const outcome = outcomeOfRefusal(step, status, answer?.problem);
    return {
      outcome,
      ...(outcome.kind !== 'unavailable' && { clockDifference: clockDifference(response.headers, now()) }),
    };
  }
  if (answer?.token === undefined) return { outcome: unusable("The provider's response has no credentials.") };
  return { outcome: { ok: true, token: answer.token, others: answer.others } };
}
