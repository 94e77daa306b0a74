import { MCP_UPSTREAM } from '../../budgets.ts';
import { failedMessage, type PendingRequest } from './message-gate.ts';
import type { MessageReader } from './message-reader.ts';
import type { WireCall } from './wire-call.ts';
import { MessageLimitError } from './wire-errors.ts';

/** A request that expects a response, and the call that it belongs to. */
export interface CalledRequest extends PendingRequest {
  call: WireCall;
}

/**
 * Returns the messages of a response as an event stream for the MCP SDK, and stores the outcome of the request in
 * `request.call`. The stream always ends with a response to the request: after an error, with an error response.
 *
 * @param end is called when reading has ended
 */
export function eventStream(
  texts: AsyncGenerator<string, never>,
  readMessage: MessageReader,
  request: CalledRequest,
  end: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const eventOf = (message: object) => encoder.encode(`data: ${JSON.stringify(message)}\n\n`);
  let messages = MCP_UPSTREAM.messages;

  /** Returns the next messages for the MCP SDK; `answered` is true if one of them is the response. */
  async function next(): Promise<{ events: object[]; answered: boolean }> {
    for (;;) {
      const { value } = await texts.next();
      const { id, method, call } = request;
      const admitted = await readMessage(value, { id, method });
      messages -= admitted.length;
      if (messages < 0) throw new MessageLimitError('messages');
      const outcome = admitted.findLast((one) => one.outcome)?.outcome;
      if (outcome) call.outcome = outcome;
      const events = admitted.flatMap(({ message }) => message ?? []);
      if (events.length > 0) return { events, answered: outcome !== undefined };
    }
  }

  async function stop(): Promise<void> {
    await texts.return(undefined as never).catch(() => {});
    end();
  }

  return new ReadableStream({
    async pull(controller) {
      const { events, answered } = await next().catch((error) => {
        request.call.outcome = { kind: 'failed', error };
        return { events: [failedMessage(request)], answered: true };
      });
      for (const event of events) controller.enqueue(eventOf(event));
      if (!answered) return;
      controller.close();
      await stop();
    },
    cancel: stop,
  });
}
