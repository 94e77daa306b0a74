import { RESPONSE } from '../../budgets.ts';
import type { Job } from '../../threads/job.ts';
import type { Admitted, PendingRequest } from './message-gate.ts';
import type { MessageLimit } from './wire-errors.ts';

/** A message to be read in a thread. */
export interface MessageToRead {
  text: string;
  secrets: readonly string[];
  pending: PendingRequest;
}

/** The message that was read, or why it could not be read. */
export type ReadMessage = { admitted: Admitted[] } | { limit: MessageLimit } | { fault: string };

export const readMessageJob: Job<MessageToRead, ReadMessage> = {
  module: new URL('./read-message-thread.ts', import.meta.url),
  timeMs: RESPONSE.readMs,
};
