import { RESPONSE } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import { EgressError } from '../net/egress-error.ts';
import { JobLimitError } from '../threads/job.ts';

/**
 * Says why a response was not read in a thread. The call was sent, so it has an outcome: a failure of the caller's request would say that
 * nothing happened.
 *
 * @throws EgressError `busy` when too many responses wait, `invalid_response` when reading takes too much time or memory; `error` otherwise
 */
export function refuseUnread(error: unknown): never {
  if (error instanceof ApiError) {
    throw new EgressError('busy', 'The service is reading too many responses. Try again later.', {
      sent: true,
      cause: error,
    });
  }
  if (!(error instanceof JobLimitError)) throw error;
  const message = `Parsing the response takes too much ${error.reason} (limit: ${RESPONSE.readMs} ms).`;
  throw new EgressError('invalid_response', message, { sent: true, cause: error });
}
