import { clientRefused, outcomeOfCode, type TokenFailure, unavailable } from '../oauth/refresh-outcome.ts';
import { readRetryAfter } from '../oauth/retry-after.ts';
import { readTokenResponse } from '../oauth/token-response.ts';
import type { Secret } from '../secret.ts';

/**
 * A token with which a service account acts for one user, the subject, with these scopes. It cannot be refreshed; the
 * next one is requested in the same way.
 */
export interface DelegatedToken {
  accessToken: Secret;
  /** The granted scopes; the requested ones if the response names none. */
  scopes: string[];
  /** Milliseconds UTC; null if the response contains no lifetime. */
  expiresAt: number | null;
}

/** `refused`: the subject was rejected. `client`: the service account's key or its delegation was rejected. */
export type DelegatedTokenOutcome = { ok: true; token: DelegatedToken } | TokenFailure;

export interface SentRequest {
  scopes: readonly string[];
  /** When the request was sent, in milliseconds UTC. */
  requestedAt: number;
  /** Milliseconds UTC. */
  now: number;
}

/** Error codes for a missing or insufficient delegation. An administrator can grant the delegation at the provider. */
const NOT_DELEGATED: ReadonlySet<string> = new Set(['unauthorized_client', 'access_denied', 'invalid_scope']);

/**
 * For `invalid_grant`, only the description shows whether the assertion or the subject was rejected (RFC 6749 §5.2).
 */
const SPEAKS_OF_THE_KEY = /\b(?:jwt|signature|assertion|issuer|key|account not found)\b/i;

/**
 * Evaluates the response to an assertion (RFC 7521 §4.1.1): by the status if it is unambiguous, otherwise by the error
 * code, and for `invalid_grant` by the description. Descriptions are not part of the outcome.
 */
export async function readResponse(response: Response, asked: SentRequest): Promise<DelegatedTokenOutcome> {
  const { status, headers } = response;
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), asked.now);
  if (status === 429) return unavailable('rate_limited', false, retryAfterMs);
  if (status >= 500) return unavailable('server_error', false, retryAfterMs);
  const copy = response.clone();
  const answer = await readTokenResponse(response, { scopeSeparator: ' ', requestedAt: asked.requestedAt });
  if (answer.kind === 'error') return outcomeOfError(answer.code, await descriptionIn(copy), retryAfterMs);
  if (status === 401) return outcomeOfCode('invalid_client');
  const problem = answer.kind === 'unreadable' ? answer.problem : 'is an error that also has a token';
  if (!response.ok || answer.kind === 'unreadable') {
    const message = `The response of the token endpoint (${status}) ${problem}.`;
    return unavailable('invalid_response', false, retryAfterMs, message);
  }
  const { accessToken, scopes, expiresAt } = answer.tokens;
  return { ok: true, token: { accessToken, scopes: scopes ?? [...asked.scopes], expiresAt } };
}

function outcomeOfError(code: string, description: string, retryAfterMs: number | undefined): TokenFailure {
  if (NOT_DELEGATED.has(code)) {
    const message = `The provider does not allow the service account to act for the subject with these scopes (${code}).`;
    return clientRefused(`${message} An administrator of the domain must allow them.`);
  }
  const outcome = outcomeOfCode(code, retryAfterMs);
  if (outcome.kind !== 'refused') return outcome;
  if (SPEAKS_OF_THE_KEY.test(description)) {
    return clientRefused(`The provider does not accept the key of the service account (${code}).`);
  }
  return { ok: false, kind: 'refused', message: `The provider rejected the subject of the account (${code}).` };
}

async function descriptionIn(response: Response): Promise<string> {
  try {
    const { error_description } = (await response.json()) as { error_description?: unknown };
    return typeof error_description === 'string' ? error_description : '';
  } catch {
    return '';
  }
}
