import { createScrubber } from '../net/redact.ts';
import type { ThreadPool } from '../threads/pool.ts';
import { FileContent } from '../tools/file-content.ts';
import type { ToolOutcome } from '../tools/outcome.ts';
import { type ReadingFacts, readResponse } from '../tools/read-response.ts';
import { isReadQuickly } from '../tools/response.ts';
import type { UpstreamResponse } from '../tools/wire.ts';
import { type ReadResponse, readJob } from './read-response.ts';
import { refuseUnread } from './unread-response.ts';

/** Reads the responses to tool calls. */
export interface ResponseReader {
  /**
   * Reads a small response synchronously, and a larger one in a thread.
   *
   * @param environmentId the environment whose thread limit applies
   * @param secrets every text that must not be in the outcome
   * @param hidden the names of query parameters that contain the credential
   * @throws EgressError `busy` if too many responses are waiting, `invalid_response` if reading takes too much time or
   * memory
   */
  read(
    environmentId: string,
    call: ReadingFacts,
    response: UpstreamResponse,
    secrets: readonly string[],
    hidden: readonly string[],
  ): ToolOutcome | Promise<ToolOutcome>;
}

export function createResponseReader(threads: ThreadPool, now: () => number): ResponseReader {
  return {
    read(environmentId, call, response, secrets, hidden) {
      return isReadQuickly(response.body)
        ? readResponse(call, response, { scrub: createScrubber(secrets), now, hidden })
        : readInThread(environmentId, call, response, secrets, hidden);
    },
  };

  async function readInThread(
    ...[environmentId, call, response, secrets, hidden]: Parameters<ResponseReader['read']>
  ): Promise<ToolOutcome> {
    const { status, headers, body } = response;
    const request = { facts: factsOf(call), status, headers, body, secrets, hidden, now: now() };
    // `bytes` is 0, because the budget for bodies (BODIES) already counts the body, and the body is not copied before
    // the thread begins.
    const read = await threads.run(readJob, request, { tenant: environmentId, bytes: 0 }).catch(refuseUnread);
    return outcomeOf(read, body);
  }
}

/** Returns only the parts of a call that reading needs, because they are copied to the thread. */
function factsOf({ tool, provider, input, at }: ReadingFacts): ReadingFacts {
  const { name, hints, errors, response, pagination } = tool;
  const { errors: ofProvider, rate_limit } = provider.api;
  const pageSize = pagination?.request?.page_size_input;
  return {
    tool: { name, hints, errors, response, pagination } as ReadingFacts['tool'],
    provider: { api: { errors: ofProvider, rate_limit } } as ReadingFacts['provider'],
    input: pageSize === undefined ? {} : { [pageSize]: input[pageSize] },
    ...(at !== undefined && { at }),
  };
}

function outcomeOf({ outcome, file }: ReadResponse, body: Buffer): ToolOutcome {
  if (!outcome.ok || file === undefined) return outcome;
  const { name, mediaType, bytes } = file;
  const content = bytes === 'body' ? body : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { ...outcome, data: new FileContent(name, mediaType, content) };
}
