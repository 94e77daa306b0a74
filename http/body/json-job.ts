import { REQUEST_BODY } from '../../core/budgets.ts';
import { ApiError } from '../../core/errors.ts';
import { type Job, JobLimitError } from '../../core/threads/job.ts';
import type { ThreadPool } from '../../core/threads/pool.ts';

export interface ParsedJson {
  value: unknown;
  /** SHA-256 of the text. */
  digest: Buffer;
}

export const jsonJob: Job<Uint8Array, { value: unknown; digest: Uint8Array }> = {
  module: new URL('./json-thread.ts', import.meta.url),
  timeMs: REQUEST_BODY.parseMs,
};

/**
 * Parses a large body in a thread, as `parseJson` does.
 *
 * @param environmentId the environment whose limit of waiting and running work in threads applies
 * @throws ApiError MALFORMED_BODY; RATE_LIMITED if the environment has too much work in threads, SERVER_BUSY if all
 * environments together have too much
 */
export async function parseInThread(threads: ThreadPool, environmentId: string, bytes: Buffer): Promise<ParsedJson> {
  try {
    const { value, digest } = await threads.run(jsonJob, bytes, { tenant: environmentId, bytes: bytes.length });
    return { value, digest: Buffer.from(digest) };
  } catch (error) {
    if (!(error instanceof JobLimitError)) throw error;
    throw new ApiError(
      'MALFORMED_BODY',
      'Parsing the body takes too much time or memory. Send a smaller or less deeply nested body.',
      { cause: error },
    );
  }
}
