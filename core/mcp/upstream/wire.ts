import type { ByteHold } from '../../budgets/byte-budget.ts';
import { BODIES } from '../../budgets.ts';
import type { PlacedPart } from '../../connectors/credential.ts';
import type { EgressRequest, EgressStream } from '../../net/egress.ts';
import { EgressError } from '../../net/egress-error.ts';
import type { ResponseHeaders } from '../../net/exchange.ts';
import { createScrubber } from '../../net/redact.ts';
import { bodyMemoryExhausted } from '../../net/refused-body.ts';
import { type CalledRequest, eventStream } from './event-stream.ts';
import type { MessageReader } from './message-reader.ts';
import { readRejection } from './read-rejection.ts';
import { responseMessages } from './response-messages.ts';
import { CALL_KEY, type WireCall } from './wire-call.ts';
import { ContinuationError } from './wire-errors.ts';

export interface WireDeps {
  /** Sends a request under the egress policy, only to the origins of the account. */
  stream(request: Omit<EgressRequest, 'allowedOrigins'>): Promise<EgressStream>;
  /** Creates a reservation in the memory budget for bodies. The caller must release it. */
  hold(): ByteHold;
  /** Whether requests contain the trace context, with which the server can join the trace. */
  sendTraceContext?: boolean | undefined;
  credential: readonly PlacedPart[];
  /** Every secret that was sent in this session. They are removed from error responses. */
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

/** The headers of the server's response that are passed on to the MCP SDK. This file sets `content-type` itself. */
const PROTOCOL_HEADERS = ['mcp-session-id', 'location'];

/**
 * Sends MCP requests with the account's credential, and reads their responses within limits of bytes, messages and
 * nodes (JSON values). Secrets of the account are removed from every response (threat E5).
 *
 * @param connecting the call of requests without a key: the handshake, notifications and the end of the session
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
    const { body, request, call } = readOutgoing(String(init.body ?? ''), calls, connecting);
    const hold = newHold();
    try {
      if (request && !(await hold.reserve(BODIES.firstBytes, call.signal))) throw bodyMemoryExhausted(false);
      const response = await send(init, url, { ...headers }, body, call);
      if (response.status >= 300) {
        hold.release();
        return await rejected(response, request, call);
      }
      if (!request) {
        response.body.destroy();
        return new Response(null, { status: response.status, headers: protocolHeaders(response.headers) });
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
      const messages = responseMessages(response, source, call.bytes, hold);
      const end = () => {
        response.body.destroy();
        hold.release();
      };
      const type = { 'content-type': 'text/event-stream' };
      return new Response(eventStream(messages, readMessage, request, end), {
        headers: { ...protocolHeaders(response.headers), ...type },
      });
    } catch (error) {
      hold.release();
      call.outcome = { kind: 'failed', error };
      throw error;
    }
  }

  /**
   * Handles a response with a status of 300 or more. Redirects are returned to the MCP SDK. With any other response,
   * requests about tools, resources and prompts fail here. For other requests, such as the handshake, the response is
   * returned to the MCP SDK, which needs it to determine the protocol revision.
   */
  async function rejected(
    response: EgressStream,
    request: CalledRequest | undefined,
    call: WireCall,
  ): Promise<Response> {
    const location = response.headers['location'];
    if (response.status < 400 && location !== undefined) {
      response.body.destroy();
      return new Response(null, { status: response.status, headers: protocolHeaders(response.headers) });
    }
    const error = await readRejection(response, scrub);
    if (request && /^(tools|resources|prompts)\//.test(request.method)) throw error;
    call.outcome = { kind: 'failed', error };
    return new Response(error.body, { status: response.status, headers: { 'content-type': 'application/json' } });
  }

  return {
    begin: (call) => void calls.set(call.key, call),
    end: (call) => void calls.delete(call.key),
    async fetch(address, init = {}) {
      // No stream for unsolicited messages is opened, because none of them would be used.
      if ((init.method ?? 'GET') === 'GET') return new Response(null, { status: 405 });
      const url = new URL(address);
      if (init.method === 'POST') return post(url, init);
      const response = await send(init, url, Object.fromEntries(new Headers(init.headers)), null, connecting);
      response.body.destroy();
      return new Response(null, { status: response.status });
    },
  };
}

/**
 * Reads an outgoing message of the MCP SDK, and removes the key of its call.
 *
 * @returns the text to send, the call, and the request; `request` is undefined for messages that have no response
 */
function readOutgoing(
  text: string,
  calls: ReadonlyMap<string, WireCall>,
  connecting: WireCall,
): { body: string; request: CalledRequest | undefined; call: WireCall } {
  const message = JSON.parse(text) as {
    id?: string | number;
    method?: string;
    params?: { _meta?: Record<string, unknown> };
  };
  const { [CALL_KEY]: key, ...meta } = message.params?._meta ?? {};
  const call = calls.get(String(key)) ?? connecting;
  const { id, method } = message;
  const request = id !== undefined && method !== undefined ? { id, method, call } : undefined;
  if (key === undefined) return { body: text, request, call };
  const { _meta, ...params } = message.params ?? {};
  const sent = { ...message, params: Object.keys(meta).length > 0 ? { ...params, _meta: meta } : params };
  return { body: JSON.stringify(sent), request, call };
}

function protocolHeaders(headers: ResponseHeaders): Record<string, string> {
  return Object.fromEntries(
    PROTOCOL_HEADERS.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name] as string]] : [])),
  );
}
