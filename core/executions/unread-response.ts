import { RESPONSE } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import { EgressError } from '../net/egress-error.ts';
import { JobLimitError } from '../threads/job.ts';

/**
 * Throws the error for a response that a thread could not read. The error must say that the call was sent. An ApiError
 * would mean that nothing was sent.
 *
 * @throws EgressError `busy` if too many responses are waiting, `invalid_response` if reading takes too much time or
 * memory; otherwise `error`
 */
export function refuseUnread(error: unknown): never {
  if (error instanceof ApiError) {
    throw new EgressError('busy', 'The service is reading too many responses. Try again later.', {
      sent: true,
      cause: error,
    });
  }
  if (!(error instanceof JobLimitError)) throw error;
  const limit = `time limit: ${RESPONSE.readMs} ms`;
  const message = `Parsing the response takes too much ${error.reason} (${limit}). Request less data.`;
  throw new EgressError('invalid_response', message, { sent: true, cause: error });
}
