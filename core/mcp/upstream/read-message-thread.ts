import { createScrubber } from '../../net/redact.ts';
import { admitMessage } from './message-gate.ts';
import type { MessageToRead, ReadMessage } from './read-message.ts';
import { MessageFormatError, MessageLimitError } from './wire-errors.ts';

/** The work of reading a message, in its thread. */
export function run({ text, secrets, question }: MessageToRead): ReadMessage {
  try {
    return { admitted: admitMessage(Buffer.from(text), createScrubber(secrets), question) };
  } catch (error) {
    // Errors of other classes than ApiError do not pass between threads.
    if (error instanceof MessageLimitError) return { limit: error.limit };
    if (error instanceof MessageFormatError) return { fault: error.message };
    throw error;
  }
}
