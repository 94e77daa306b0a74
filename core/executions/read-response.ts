import { RESPONSE } from '../budgets.ts';
import type { Job } from '../threads/job.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import type { ReadingFacts } from '../tools/read-response.ts';
import type { ResponseHeaders } from '../tools/response-headers.ts';

/** A response to be read in a thread. */
export interface ResponseToRead {
  facts: ReadingFacts;
  status: number;
  headers: ResponseHeaders;
  body: Uint8Array;
  secrets: readonly string[];
  hidden: readonly string[];
  /** Milliseconds UTC. */
  now: number;
}

export interface ReadResponse {
  /** `data` is null if the result is a file. */
  outcome: ToolOutcome;
  /** The file of the result, if it is one. `body`: the bytes of the file are the unchanged response body. */
  file?: { name: string; mediaType: string | undefined; bytes: Uint8Array | 'body' };
}

export const readJob: Job<ResponseToRead, ReadResponse> = {
  module: new URL('./read-response-thread.ts', import.meta.url),
  timeMs: RESPONSE.readMs,
};
