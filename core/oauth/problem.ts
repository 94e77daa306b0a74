import { ApiError } from '../errors.ts';
import { type FaultyPart, OAuthConfigError } from './config-error.ts';
import { clientRefused, outcomeOfFailure, type TokenFailure } from './refresh-outcome.ts';
import { isTransportFailure } from './transport.ts';

/** Returns a message for API clients if a setting is wrong and nothing was sent; otherwise undefined. */
export function settingProblem(error: unknown): string | undefined {
  return error instanceof OAuthConfigError || error instanceof ApiError ? error.message : undefined;
}

/**
 * Returns whether the wrong setting belongs to the connection or the account. INVALID_API_CONFIG means that an account
 * value is missing or invalid.
 */
export function faultyPartOf(error: unknown): FaultyPart {
  if (error instanceof OAuthConfigError) return error.faultyPart;
  return error instanceof ApiError && error.code === 'INVALID_API_CONFIG' ? 'account' : 'connection';
}

/**
 * Returns the outcome of a token request that failed without a usable response.
 *
 * @throws the error itself if it is neither a transport failure nor a wrong setting
 */
export function outcomeOfProblem(error: unknown): TokenFailure {
  if (isTransportFailure(error)) return outcomeOfFailure(error);
  const message = settingProblem(error);
  if (message === undefined) throw error;
  return clientRefused(message, faultyPartOf(error));
}
