import { RESPONSE } from '../../budgets.ts';
import { refuseUnread } from '../../executions/unread-response.ts';
import { createScrubber } from '../../net/redact.ts';
import type { ThreadPool } from '../../threads/pool.ts';
import { isReadQuickly } from '../../tools/response.ts';
import { type Admitted, admitMessage, type PendingRequest } from './message-gate.ts';
import { readMessageJob } from './read-message.ts';
import { MessageFormatError, MessageLimitError } from './wire-errors.ts';

/** Reads one message that an MCP server sends in the response to the pending request. */
export type MessageReader = (text: string, pending: PendingRequest) => Promise<Admitted[]>;

/**
 * Creates the reader of one session with an MCP server.
 *
 * @param environmentId the environment whose share of the worker threads is used
 * @param secrets are removed from the messages
 */
export type MessageReaders = (environmentId: string, secrets: readonly string[]) => MessageReader;

/**
 * Creates readers of messages of MCP servers. A small message is read immediately, a larger one in a thread.
 *
 * @throws (each reader) MessageLimitError, MessageFormatError; EgressError `busy` if too many responses are waiting,
 * `invalid_response` if reading takes too much time or memory
 */
export function createMessageReaders(threads: Pick<ThreadPool, 'run'>): MessageReaders {
  return (environmentId, secrets) => {
    const scrub = createScrubber(secrets);
    return async (text, pending) => {
      if (text.length <= RESPONSE.inlineBytes) {
        const bytes = Buffer.from(text);
        if (isReadQuickly(bytes)) return admitMessage(bytes, scrub, pending);
      }
      // 0 bytes, because the text is already counted in the memory budget for response bodies (BODIES).
      const cost = { tenant: environmentId, bytes: 0 };
      const read = await threads.run(readMessageJob, { text, secrets, pending }, cost).catch(refuseUnread);
      if ('limit' in read) throw new MessageLimitError(read.limit);
      if ('fault' in read) throw new MessageFormatError(read.fault);
      return read.admitted;
    };
  };
}
