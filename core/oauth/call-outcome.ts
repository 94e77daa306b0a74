import type { ResponseRules } from '../connectors/oauth-deviations.ts';
import { failureIn, readJson } from './json-response.ts';
import { settingProblem } from './problem.ts';
import { outcomeOfCode, reasonOf, type UnavailableReason } from './refresh-outcome.ts';
import { readRetryAfter } from './retry-after.ts';
import { isTransportFailure } from './transport.ts';

/**
 * The outcome of a call. Messages are shown to API clients. `refused`: the provider rejects the credential; `code` is
 * its error code, empty if only the status says so. `setting`: a setting is missing or wrong, and nothing was sent.
 * `unavailable`: there is no conclusive response. `unexpected`: the response is not one that the connector file
 * describes.
 */
export type CallOutcome = { ok: true; status: number; body: unknown } | CallFailure;

export type CallFailure =
  | { ok: false; kind: 'refused'; status: number; code: string; message: string }
  | { ok: false; kind: 'unexpected'; status: number; message: string }
  | NoResponse;

export type NoResponse =
  | { ok: false; kind: 'setting'; message: string }
  | { ok: false; kind: 'unavailable'; reason: UnavailableReason; retryAfterMs?: number; message: string };

/**
 * Evaluates the response of a call by its status and its body.
 *
 * @param rules where the body contains an error code, by the connector file; undefined if only the status shows a
 * failure
 * @param now milliseconds UTC
 */
export async function readCallOutcome(
  response: Response,
  rules: ResponseRules | undefined,
  now: number,
): Promise<CallOutcome> {
  const { status, headers } = response;
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now);
  if (status === 429) return unavailable('rate_limited', retryAfterMs);
  if (status >= 500) return unavailable('server_error', retryAfterMs);
  const body = await readJson(response);
  const code = failureIn(body, rules)?.toLowerCase();
  const failure = code === undefined ? undefined : outcomeOfCode(code, retryAfterMs);
  if (failure?.kind === 'unavailable' && failure.reason !== 'invalid_response') {
    return unavailable(failure.reason, retryAfterMs);
  }
  if (failure !== undefined && failure.kind !== 'unavailable') return refused(status, code);
  if (status === 401 || status === 403) return refused(status);
  return response.ok && failure === undefined ? { ok: true, status, body } : unexpected(status);
}

/**
 * Returns the outcome of a call that failed without a usable response.
 *
 * @throws the error itself if it is neither a transport failure nor a wrong setting
 */
export function callProblem(error: unknown): NoResponse {
  if (isTransportFailure(error)) {
    return { ok: false, kind: 'unavailable', reason: reasonOf(error), message: error.message };
  }
  const message = settingProblem(error);
  if (message === undefined) throw error;
  return { ok: false, kind: 'setting', message };
}

function unavailable(reason: UnavailableReason, retryAfterMs: number | undefined): CallFailure {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  const message =
    reason === 'rate_limited' ? "The provider's rate limit is exceeded." : 'The provider returned a server error.';
  return { ok: false, kind: 'unavailable', reason, ...wait, message };
}

function refused(status: number, code = ''): CallFailure {
  return { ok: false, kind: 'refused', status, code, message: 'The provider does not accept the credential.' };
}

function unexpected(status: number): CallFailure {
  return {
    ok: false,
    kind: 'unexpected',
    status,
    message: `The provider's response was not as expected (HTTP status ${status}). Check the addresses in its definition.`,
  };
}
