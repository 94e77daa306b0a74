import { createScrubber } from '../../net/redact.ts';
import { admitMessage } from './message-gate.ts';
import type { MessageToRead, ReadMessage } from './read-message.ts';
import { MessageFormatError, MessageLimitError } from './wire-errors.ts';

/** Reads a message of an MCP server. It runs in a worker thread. */
export function run({ text, secrets, pending }: MessageToRead): ReadMessage {
  try {
    return { admitted: admitMessage(Buffer.from(text), createScrubber(secrets), pending) };
  } catch (error) {
    // Only ApiError keeps its class between threads, so other errors are returned as values.
    if (error instanceof MessageLimitError) return { limit: error.limit };
    if (error instanceof MessageFormatError) return { fault: error.message };
    throw error;
  }
}
