import { type ClientRequest, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import type { Got, HandlerFunction, NativeRequestOptions, Progress, RequestPromise, Response } from 'got';
import type { ByteAllowance } from '../budgets/byte-budget.ts';
import { BODIES } from '../budgets.ts';
import type { Lanes } from '../scheduling/lanes.ts';
import { inSpan } from '../spans.ts';
import type { Connector } from './connect.ts';
import { EgressError, originNotAllowed } from './egress-error.ts';
import type { EgressLimits } from './limits.ts';
import { loadGot } from './packages.ts';
import type { EgressPolicy } from './policy.ts';
import { bodyMemoryExhausted, tooMany } from './refused-body.ts';
import { outboundSpan, showStatus } from './traced.ts';
import { toEgressError } from './transport-error.ts';

/**
 * got under the egress policy and with the limits of this module, which the options of a call cannot override.
 * Redirects and retries are off by default. The `context` of a call is a `CallContext`. Failures are EgressErrors,
 * except with the shortcut `.json()`: use `responseType: 'json'` instead. Streams are not supported.
 */
export type Protocol = Got;

/** The options that a call has in addition to those of got. */
export interface CallContext {
  /** The origins that the call may reach; if omitted, all that the policy allows. */
  allowedOrigins?: readonly string[];
  /** The maximum size of the response in bytes, if it is less than the limit of all protocol calls. */
  maxBytes?: number;
  /** Called when the head of a response was received, even if reading the body then fails. */
  onHead?(status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void;
}

export interface ProtocolDeps {
  policy: EgressPolicy;
  connect: Connector;
  /** Slots for calls, by origin. */
  lanes: Lanes;
  limits: EgressLimits;
  userAgent: string;
  /** The environment's share of the memory for bodies. */
  bodies: ByteAllowance;
}

/** The state of one call, shared by got's handler (`guard`) and got's request function (`open`). */
interface Call {
  signal: AbortSignal;
  context: CallContext;
  sent: boolean;
  /** The connection, which only this call uses. */
  socket: Socket | undefined;
  /** Makes the call fail. */
  fail(error: EgressError): void;
}

/** The maximum number of chunks of a response; more would fill the memory with small objects. */
const MAX_CHUNKS = 16_384;

export function createProtocol(deps: ProtocolDeps): Protocol {
  return loadGot().default.extend({
    handlers: [guard(deps)],
    headers: { 'user-agent': deps.userAgent },
    followRedirect: false,
    retry: { limit: 0 },
    throwHttpErrors: false,
    maxHeaderSize: deps.limits.maxHeaderBytes,
  });
}

function guard(deps: ProtocolDeps): HandlerFunction {
  const { protocolTimeoutMs } = deps.limits;
  return (options, next) =>
    inSpan(
      () => outboundSpan(options.method, new URL(String(options.url))),
      async (span) => {
        if (options.isStream)
          throw new TypeError('Protocol calls cannot be streamed, because the size of the whole response is limited.');
        const context = options.context as CallContext;
        const maxBytes = Math.min(deps.limits.protocolMaxBytes, context.maxBytes ?? Number.POSITIVE_INFINITY);
        const end = new AbortController();
        const late = () =>
          end.abort(new EgressError('timeout', `The call did not finish within ${protocolTimeoutMs} ms.`));
        const timer = setTimeout(late, protocolTimeoutMs);
        const signal = options.signal === undefined ? end.signal : AbortSignal.any([options.signal, end.signal]);
        const call: Call = {
          signal,
          context,
          sent: false,
          socket: undefined,
          fail: (error) => end.abort(error),
        };
        options.signal = signal;
        options.request = (url, native) => open(deps, call, url, native);
        const hold = deps.bodies.hold();
        try {
          // Memory is reserved before the request is sent, because a response that cannot be read may contain the only
          // copy of a new refresh token.
          if (!(await hold.reserve(BODIES.firstBytes, signal))) throw bodyMemoryExhausted(false);
          const answer = next(options);
          let chunks = 0;
          // `transferred` counts decompressed bytes, so this also stops a decompression bomb.
          (answer as RequestPromise).on('downloadProgress', ({ transferred }: Progress) => {
            if (transferred > maxBytes) {
              end.abort(new EgressError('too_large', `The response is larger than ${maxBytes} bytes.`));
            } else if (++chunks > MAX_CHUNKS) end.abort(tooMany('chunks'));
            else if (transferred > hold.bytes && !hold.grow(transferred - hold.bytes))
              end.abort(bodyMemoryExhausted(true));
          });
          const response = await answer;
          showStatus(span, (response as Response).statusCode);
          return response;
        } catch (error) {
          throw protocolError(error, call);
        } finally {
          clearTimeout(timer);
          // The HTTP clients leave a connection open if the server switches protocols, so it is closed here.
          call.socket?.destroy();
          hold.release();
        }
      },
    );
}

/**
 * Sends the request on a new connection. The server may close a pooled connection just when the request is written, and
 * then it would be unknown whether a refresh token was used up. Of got's options, only the method and the headers with
 * their maximum size are used, and none that affect sockets or TLS.
 */
async function open(deps: ProtocolDeps, call: Call, url: URL, native: NativeRequestOptions): Promise<ClientRequest> {
  const { allowedOrigins } = call.context;
  if (allowedOrigins?.includes(url.origin) === false) throw originNotAllowed(url.origin, allowedOrigins);
  if (native.headers !== undefined && 'host' in native.headers) {
    throw new EgressError('blocked', 'The header "host" must not be set by a caller.');
  }
  const { target, targetOrigin } = deps.policy.route(url);
  const leave = await deps.lanes.enter(targetOrigin, call.signal);
  try {
    const socket = await deps.connect(target, call.signal);
    if (call.signal.aborted) {
      socket.destroy();
      throw call.signal.reason;
    }
    call.sent = true;
    // A previous socket is from an earlier attempt of this call, or from before a redirect.
    call.socket?.destroy();
    call.socket = socket;
    // `node:http` is used for both schemes, because the connector has already done the TLS handshake.
    const request = httpRequest({
      createConnection: () => socket,
      host: target.hostname,
      port: target.port,
      defaultPort: target.tls ? 443 : 80,
      path: url.pathname + url.search,
      method: native.method,
      headers: native.headers,
      maxHeaderSize: native.maxHeaderSize,
    });
    let interim = 0;
    request.on('information', () => {
      if (++interim > deps.limits.maxInterim) call.fail(tooMany('interim responses'));
    });
    // The event of `node:http` is used, because got emits its own event only after it has read the body.
    request.once('response', ({ statusCode = 0, headers }) => call.context.onHead?.(statusCode, headers));
    request.once('upgrade', () => {
      const message = 'The server switched to another protocol, which is not supported.';
      call.fail(new EgressError('invalid_response', message, { sent: true }));
    });
    return request.once('close', leave);
  } catch (error) {
    leave();
    throw error;
  }
}

function protocolError(error: unknown, { signal, sent }: Call): EgressError {
  const ended = signal.aborted ? signal.reason : undefined;
  if (ended instanceof EgressError) return toEgressError(ended, { sent, answering: false });
  if (ended !== undefined) return new EgressError('aborted', 'The call was cancelled.', { sent });
  if (!(error instanceof loadGot().RequestError)) return toEgressError(error, { sent, answering: false });
  if (error.code === 'ERR_BODY_PARSE_FAILURE') {
    return new EgressError('invalid_response', 'The response is not valid JSON.', { sent });
  }
  if (error.code === 'ETIMEDOUT') return new EgressError('timeout', 'The call did not finish in time.', { sent });
  // Only the cause is used, because a RequestError contains the request with its credentials.
  return toEgressError(error.cause ?? new Error(error.code), { sent, answering: error.response !== undefined });
}
