import { OAuthConfigError } from '../oauth/config-error.ts';
import { outcomeOfProblem } from '../oauth/problem.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import { clockDifference, sendByServerClock, type TimedAttempt } from '../oauth1/server-clock.ts';
import { type Delegation, signDelegation } from './assertion.ts';
import { type DelegatedTokenOutcome, readResponse } from './read-response.ts';

export interface DelegatedTokenRequest extends Delegation {
  /** The token endpoint of the provider, even if the key file names another one. */
  tokenEndpoint: URL;
  /** Restricted to the origin of the endpoint, with a time limit. */
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
}

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/**
 * Requests a token with which a service account acts for a user (RFC 7523 §2.1). A provider whose clock differs rejects
 * assertions as expired or not yet valid; then the request is repeated once with the provider's time.
 *
 * @throws errors that are bugs
 */
export async function requestDelegatedToken(request: DelegatedTokenRequest): Promise<DelegatedTokenOutcome> {
  try {
    checkRequest(request);
    return unspent(await sendByServerClock((aheadMs) => attempt(request, aheadMs)));
  } catch (error) {
    return unspent(outcomeOfProblem(error));
  }
}

/**
 * Rejects a request without scopes or without a subject. Without a subject, the token would be for the service account
 * itself, which may have other permissions.
 */
function checkRequest({ subject, scopes }: DelegatedTokenRequest): void {
  if (subject.trim() === '')
    throw new OAuthConfigError('The account has no workspace_dwd.subject, the user to act for.', {
      faultyPart: 'account',
    });
  if (scopes.length === 0) throw new OAuthConfigError('The connection has no scopes.');
}

async function attempt(request: DelegatedTokenRequest, aheadMs: number): Promise<TimedAttempt<DelegatedTokenOutcome>> {
  const { tokenEndpoint, scopes, fetch, now } = request;
  const requestedAt = now();
  const assertion = signDelegation(request, requestedAt + aheadMs);
  const response = await fetch(tokenEndpoint, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: GRANT_TYPE, assertion }).toString(),
    redirect: 'manual',
  });
  const outcome = await readResponse(response, { scopes, requestedAt, now: now() });
  if (outcome.ok || outcome.kind === 'unavailable') return { outcome };
  return { outcome, clockDifference: clockDifference(response.headers, now()) };
}

/** Sets `mayBeSpent` to false: a failed request uses up no credential, because another assertion can be signed. */
function unspent(outcome: DelegatedTokenOutcome): DelegatedTokenOutcome {
  return !outcome.ok && outcome.kind === 'unavailable' ? { ...outcome, mayBeSpent: false } : outcome;
}
