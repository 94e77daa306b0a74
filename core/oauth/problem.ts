import { ApiError } from '../errors.ts';
import { type Culprit, OAuthConfigError } from './config-error.ts';
import { clientRefused, outcomeOfFailure, type TokenFailure } from './refresh-outcome.ts';
import { isTransportFailure } from './transport.ts';

/** What is wrong with the settings, when that is why nothing was sent: a public sentence. */
export function settingProblem(error: unknown): string | undefined {
  return error instanceof OAuthConfigError || error instanceof ApiError ? error.message : undefined;
}

/** Whose setting it is: an address or a configuration that does not fit is the account's. */
export function culpritOf(error: unknown): Culprit {
  if (error instanceof OAuthConfigError) return error.culprit;
  return error instanceof ApiError && error.code === 'INVALID_API_CONFIG' ? 'account' : 'connection';
}

/**
 * The outcome of a token request without a response.
 *
 * @throws the error itself if it is a bug
 */
export function outcomeOfProblem(error: unknown): TokenFailure {
  if (isTransportFailure(error)) return outcomeOfFailure(error);
  const message = settingProblem(error);
  if (message === undefined) throw error;
  return clientRefused(message, culpritOf(error));
}
