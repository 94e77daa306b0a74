import { ApiError } from '../errors.ts';
import { OAuthConfigError } from './config-error.ts';
import { outcomeOfFailure, type TokenFailure } from './refresh-outcome.ts';
import { isTransportFailure } from './transport.ts';

/** What is wrong with the settings, when that is why nothing was sent: a public sentence. */
export function settingProblem(error: unknown): string | undefined {
  return error instanceof OAuthConfigError || error instanceof ApiError ? error.message : undefined;
}

/**
 * How a token request ended that brought no answer.
 *
 * @throws the error itself when it is a mistake of ours
 */
export function outcomeOfProblem(error: unknown): TokenFailure {
  if (isTransportFailure(error)) return outcomeOfFailure(error);
  const message = settingProblem(error);
  if (message === undefined) throw error;
  return { ok: false, kind: 'client', message };
}
