import type { ByteHold } from '../../budgets/byte-budget.ts';
import { BODIES, MCP_UPSTREAM } from '../../budgets.ts';
import type { PlacedPart } from '../../connectors/credential.ts';
import type { EgressRequest, EgressStream } from '../../net/egress.ts';
import { EgressError } from '../../net/egress-error.ts';
import type { ResponseHeaders } from '../../net/exchange.ts';
import { createScrubber } from '../../net/redact.ts';
import { bodyMemoryExhausted } from '../../net/refused-body.ts';
import { isRecord } from '../../tools/pointer.ts';
import { failedMessage, type PendingRequest } from './message-gate.ts';
import type { MessageReader } from './message-reader.ts';
import { readText, responseMessages } from './response-messages.ts';
import { CALL_KEY, type WireCall } from './wire-call.ts';
import { ContinuationError, MessageLimitError, StatusError } from './wire-errors.ts';

export interface WireDeps {
  /** Sends a request under the egress policy, only to the origins of the account. */
  stream(request: Omit<EgressRequest, 'allowedOrigins'>): Promise<EgressStream>;
  /** Creates a reservation in the memory budget for bodies. The caller must release it. */
  hold(): ByteHold;
  /** Whether the server learns which trace a request belongs to. */
  sendTraceContext?: boolean | undefined;
  credential: readonly PlacedPart[];
  /** Every secret that was sent in this session; none of them may be in a result. */
  secrets: readonly string[];
  /** Reads messages and removes the secrets. */
  readMessage: MessageReader;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<void>;
}

/** The `fetch` of the MCP SDK, which has no other access to the network. */
export interface Wire {
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /**
   * Until `end`, all requests that contain the key of this call belong to the call. Requests without a key belong to
   * the call `connecting`.
   */
  begin(call: WireCall): void;
  end(call: WireCall): void;
}

/** A request that expects a response, and the call that it belongs to. */
interface Asked extends PendingRequest {
  call: WireCall;
}

/** The response headers that the MCP SDK needs; it receives no others. */
const PROTOCOL_HEADERS = ['mcp-session-id', 'location'];
/** Headers of a rejection that are used for its error. */
const ERROR_HEADERS = ['www-authenticate', 'retry-after'];
const ERROR_BYTES = 64 * 1024;
const MAX_WORDS = 300;

/**
 * Sends MCP requests with the account's credential, and reads their responses within limits of bytes, messages and
 * nodes. Secrets of the account are removed from every response (threat E5).
 */
export function createWire(deps: WireDeps, connecting: WireCall): Wire {
  const { stream, hold: newHold, sendTraceContext, credential, secrets, readMessage, wait } = deps;
  const scrub = createScrubber(secrets);
  const calls = new Map<string, WireCall>();

  async function send(
    init: RequestInit,
    url: URL,
    headers: Record<string, string>,
    body: string | null,
    call: WireCall,
  ) {
    for (const part of credential) {
      if (part.in === 'query') url.searchParams.set(part.name, part.value);
      else if (part.in === 'header') headers[part.name.toLowerCase()] = part.value;
      else throw new Error('a credential of an MCP server is placed in a header or in the query');
    }
    const signal = init.signal ? AbortSignal.any([init.signal, call.signal]) : call.signal;
    return stream({
      method: init.method ?? 'GET',
      url,
      // Compressed event streams could not be read as they arrive.
      headers: { ...headers, 'accept-encoding': 'identity' },
      timeoutMs: call.silenceMs,
      idleTimeoutMs: call.silenceMs,
      maxBytes: call.bytes,
      sendTraceContext,
      signal,
      ...(body !== null && { body }),
    });
  }

  async function post(url: URL, init: RequestInit): Promise<Response> {
    const headers = Object.fromEntries(new Headers(init.headers));
    const { body, asked, call } = readOutgoing(String(init.body ?? ''), calls, connecting);
    const hold = newHold();
    try {
      if (asked && !(await hold.reserve(BODIES.firstBytes, call.signal))) throw bodyMemoryExhausted(false);
      const answer = await send(init, url, { ...headers }, body, call);
      if (answer.status >= 300) {
        hold.release();
        return await refused(answer, asked, call);
      }
      if (!asked) {
        answer.body.destroy();
        return new Response(null, { status: answer.status, headers: kept(answer.headers) });
      }
      const source = {
        resume: async (lastEventId: string) => {
          const { 'content-type': _none, ...rest } = headers;
          const again = { ...rest, accept: 'text/event-stream', 'last-event-id': lastEventId };
          const resumed = await send({ ...init, method: 'GET' }, url, again, null, call).catch((error: unknown) => {
            throw error instanceof EgressError ? error.afterSending() : error;
          });
          if (resumed.status === 200) return resumed;
          resumed.body.destroy();
          throw new ContinuationError(resumed.status);
        },
        wait,
        signal: call.signal,
      };
      const messages = responseMessages(answer, source, call.bytes, hold);
      const end = () => {
        answer.body.destroy();
        hold.release();
      };
      const type = { 'content-type': 'text/event-stream' };
      return new Response(eventStream(messages, readMessage, asked, end), {
        headers: { ...kept(answer.headers), ...type },
      });
    } catch (error) {
      hold.release();
      call.outcome = { kind: 'failed', error };
      throw error;
    }
  }

  /**
   * Handles a rejected request. Calls, reads and lists fail here; the MCP SDK needs other rejections to determine the
   * protocol revision.
   */
  async function refused(answer: EgressStream, asked: Asked | undefined, call: WireCall): Promise<Response> {
    const location = answer.headers['location'];
    if (answer.status < 400 && location !== undefined) {
      answer.body.destroy();
      return new Response(null, { status: answer.status, headers: kept(answer.headers) });
    }
    const error = await statusError(answer);
    if (asked && /^(tools|resources|prompts)\//.test(asked.method)) throw error;
    call.outcome = { kind: 'failed', error };
    return new Response(error.body, { status: answer.status, headers: { 'content-type': 'application/json' } });
  }

  async function statusError({ status, headers, ...answer }: EgressStream): Promise<StatusError & { body: string }> {
    // An explanation that is too large is ignored.
    const budget = { bytes: ERROR_BYTES, lines: 0, hold: { bytes: ERROR_BYTES, grow: () => true }, read: 0 };
    const text = await readText({ status, headers, ...answer }, budget).catch((error) => {
      if (error instanceof MessageLimitError) return '';
      throw error;
    });
    const body = scrub(text);
    const errorHeaders = Object.fromEntries(
      ERROR_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, scrub(headers[name])]])),
    );
    return Object.assign(new StatusError(status, errorHeaders, wordsOf(body)), { body });
  }

  return {
    begin: (call) => void calls.set(call.key, call),
    end: (call) => void calls.delete(call.key),
    async fetch(address, init = {}) {
      // No stream for unsolicited messages is opened, because none of them would be used.
      if ((init.method ?? 'GET') === 'GET') return new Response(null, { status: 405 });
      const url = new URL(address);
      if (init.method === 'POST') return post(url, init);
      const answer = await send(init, url, Object.fromEntries(new Headers(init.headers)), null, connecting);
      answer.body.destroy();
      return new Response(null, { status: answer.status });
    },
  };
}

/**
 * Reads an outgoing message of the MCP SDK: the text to send, and the expected response; `asked` is undefined if there
 * is none.
 */
function readOutgoing(
  text: string,
  calls: ReadonlyMap<string, WireCall>,
  connecting: WireCall,
): { body: string; asked: Asked | undefined; call: WireCall } {
  const message = JSON.parse(text) as {
    id?: string | number;
    method?: string;
    params?: { _meta?: Record<string, unknown> };
  };
  const { [CALL_KEY]: key, ...meta } = message.params?._meta ?? {};
  const call = calls.get(String(key)) ?? connecting;
  const { id, method } = message;
  const asked = id !== undefined && method !== undefined ? { id, method, call } : undefined;
  if (key === undefined) return { body: text, asked, call };
  const { _meta, ...params } = message.params ?? {};
  const sent = { ...message, params: Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params };
  return { body: JSON.stringify(sent), asked, call };
}

/**
 * Returns the messages of a response as an event stream for the MCP SDK. It always ends with a response to the request,
 * also after an error.
 *
 * @param end is called when nothing more is read
 */
function eventStream(
  texts: AsyncGenerator<string, never>,
  readMessage: MessageReader,
  asked: Asked,
  end: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const eventOf = (message: object) => encoder.encode(`data: ${JSON.stringify(message)}\n\n`);
  let messages = MCP_UPSTREAM.messages;

  /** Returns the next messages for the MCP SDK; `answered` is true if one of them is the response. */
  async function next(): Promise<{ events: object[]; answered: boolean }> {
    for (;;) {
      const { value } = await texts.next();
      const { id, method, call } = asked;
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
        asked.call.outcome = { kind: 'failed', error };
        return { events: [failedMessage(asked)], answered: true };
      });
      for (const event of events) controller.enqueue(eventOf(event));
      if (!answered) return;
      controller.close();
      await stop();
    },
    cancel: stop,
  });
}

function kept(headers: ResponseHeaders): Record<string, string> {
  return Object.fromEntries(
    PROTOCOL_HEADERS.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name] as string]] : [])),
  );
}

/** Returns the explanation in an error body: a JSON-RPC message, an OAuth error description, or a short text. */
function wordsOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isRecord(parsed)) return '';
    const { error, error_description: description, message, detail } = parsed;
    const words = [isRecord(error) ? error['message'] : undefined, description, message, detail, error];
    return cut(words.find((word) => typeof word === 'string') ?? '');
  } catch {
    return /<[a-z!]/i.test(body) ? '' : cut(body);
  }
}

function cut(text: unknown): string {
  return String(text).slice(0, MAX_WORDS).toWellFormed().trim();
}
