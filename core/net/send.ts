import type { Dispatcher } from 'undici';
import { BodyBuffer } from '../budgets/body-buffer.ts';
import type { ByteAllowance, ByteHold } from '../budgets/byte-budget.ts';
import { BODIES } from '../budgets.ts';
import type { Lanes } from '../scheduling/lanes.ts';
import type { OriginBreaker } from './breaker.ts';
import type { ConnectionPool, Destination } from './connection-pool.ts';
import { EgressError, originNotAllowed } from './egress-error.ts';
import { type ExchangeLimits, exchange, type ResponseHeaders, type WireResponse } from './exchange.ts';
import { flatHeaders, type HeaderInput } from './headers.ts';
import { type InflateLimits, inflate } from './inflate.ts';
import type { EgressLimits } from './limits.ts';
import type { EgressPolicy } from './policy.ts';
import { type Hop, sameOriginRedirect } from './redirect.ts';
import { bodyMemoryExhausted } from './refused-body.ts';

export interface EgressRequest {
  method: string;
  url: URL | string;
  /** Names and values are checked. Framing headers, Host and proxy headers are rejected. */
  headers?: HeaderInput;
  body?: string | Buffer;
  /** The origins that the credentials of this call were issued for; the origin of `url` must be one of them. */
  allowedOrigins: readonly string[];
  /**
   * `none` (default): every redirect is returned as the response. `same-origin`: redirects within the origin are
   * followed.
   */
  redirects?: 'none' | 'same-origin';
  /** The time for the whole call in milliseconds; 30,000 by default. `send` does not allow more than the default. */
  timeoutMs?: number;
  /** The longest time without data within the response, in milliseconds; 10,000 by default. */
  idleTimeoutMs?: number;
  /**
   * The maximum size of the body in bytes, both compressed and decompressed; by default 10 MiB, and 100 MiB for
   * `stream`.
   */
  maxBytes?: number;
  signal?: AbortSignal;
  /** Whether the host may learn which trace the call belongs to. */
  sendTraceContext?: boolean | undefined;
  /**
   * The reservation of memory for the bodies of this call. It keeps counting them after the call has ended, until the
   * caller releases it. By default they are counted until the call ends.
   */
  hold?: ByteHold;
}

/** A request with a value for the header `traceparent`, which is used unless the caller has set that header itself. */
export interface TracedRequest extends EgressRequest {
  traceparent?: string | undefined;
}

export interface EgressResponse {
  status: number;
  /** Names are in lower case. Content-Encoding and Content-Length are removed if the body was decompressed. */
  headers: ResponseHeaders;
  body: Buffer;
  /**
   * The address of the last request, after redirects. It has the provider's origin, even if
   * `VALETKEY_ENDPOINT_OVERRIDES` replaced the origin by a local address.
   */
  url: URL;
}

export interface SendDeps {
  policy: EgressPolicy;
  pool: ConnectionPool;
  /** Slots for calls, by origin. */
  lanes: Lanes;
  breaker: OriginBreaker;
  limits: EgressLimits;
  userAgent: string;
  /** The environment's share of the memory for bodies. */
  bodies: ByteAllowance;
}

const METHOD = /^[A-Z][A-Z-]*$/;
const NEVER_SENT = new Set(['CONNECT', 'TRACE']);

/**
 * Creates the function that sends one call, for example of a tool: one request, at most three same-origin redirects,
 * one response within limits.
 *
 * @returns a function that rejects with an EgressError. If its `sent` is false, a call with any method can safely be
 * repeated.
 */
export function createSend(deps: SendDeps): (request: TracedRequest) => Promise<EgressResponse> {
  return async (request) => {
    const first = firstHop(request, deps.userAgent);
    const limits = limitsOf(request, deps.limits);
    const { signal: caller, redirects } = request;
    const end = new AbortController();
    const late = () => end.abort(new EgressError('timeout', `The call did not finish within ${limits.timeoutMs} ms.`));
    const stop = () => end.abort(new EgressError('aborted', 'The call was cancelled.'));
    const timer = setTimeout(late, limits.timeoutMs);
    caller?.addEventListener('abort', stop, { once: true });
    if (caller?.aborted) stop();
    const hold = request.hold ?? deps.bodies.hold();
    try {
      // Reserved before waiting for a slot of the origin, so that the bodies of waiting calls are counted.
      const size = first.body === null ? 0 : Buffer.byteLength(first.body);
      if (size > 0 && !(await hold.reserve(size, end.signal))) throw bodyMemoryExhausted(false);
      const maxHops = redirects === 'same-origin' ? deps.limits.maxRedirects : 0;
      const { hop, answer } = await follow({ ...deps, hold }, first, maxHops, limits, end.signal);
      const { status, headers, body } = isCoded(answer) ? await decoded(answer, limits, hold) : answer;
      return { status, headers, body, url: hop.url };
    } finally {
      if (hold !== request.hold) hold.release();
      clearTimeout(timer);
      caller?.removeEventListener('abort', stop);
    }
  };
}

/** Returns the first request of a call after checking it. @throws EgressError `blocked` */
export function firstHop(request: TracedRequest, userAgent: string): Hop {
  const { method, body = null, traceparent } = request;
  // A copy, so that the URL that was checked is sent even if the caller changes its URL object in the meantime.
  const url = new URL(request.url);
  if (!request.allowedOrigins.includes(url.origin)) throw originNotAllowed(url.origin, request.allowedOrigins);
  if (!METHOD.test(method) || NEVER_SENT.has(method)) {
    throw new EgressError('blocked', `The method ${JSON.stringify(method.slice(0, 20))} is not supported.`);
  }
  const defaults = { 'accept-encoding': 'gzip, br', 'user-agent': userAgent, ...(traceparent && { traceparent }) };
  return { url, method, headers: flatHeaders(request.headers ?? [], defaults), body };
}

type CallLimits = ExchangeLimits & InflateLimits & Pick<EgressLimits, 'timeoutMs' | 'maxChunks'>;

function limitsOf(request: EgressRequest, limits: EgressLimits): CallLimits {
  return {
    timeoutMs: Math.min(request.timeoutMs ?? Number.POSITIVE_INFINITY, limits.timeoutMs),
    idleTimeoutMs: request.idleTimeoutMs ?? limits.idleTimeoutMs,
    maxBytes: request.maxBytes ?? limits.maxBytes,
    maxChunks: limits.maxChunks,
    maxInterim: limits.maxInterim,
    maxRatio: limits.maxRatio,
    ratioFloorBytes: limits.ratioFloorBytes,
  };
}

interface CallDeps extends SendDeps {
  hold: ByteHold;
}

async function follow(
  deps: CallDeps,
  first: Hop,
  maxHops: number,
  limits: CallLimits,
  signal: AbortSignal,
): Promise<{ hop: Hop; answer: WireResponse }> {
  let hop = first;
  for (let hops = 0; ; hops++) {
    let answer: WireResponse;
    try {
      answer = await once(deps, hop, limits, signal);
    } catch (error) {
      throw hops === 0 ? error : (error as EgressError).afterSending();
    }
    const next = maxHops === 0 ? undefined : sameOriginRedirect(hop, answer.status, answer.headers);
    if (next === undefined) return { hop, answer };
    if (hops === maxHops) {
      throw new EgressError('invalid_response', `The call was redirected more than ${maxHops} times.`, { sent: true });
    }
    hop = next;
  }
}

async function once(
  { policy, pool, lanes, breaker, hold }: CallDeps,
  hop: Hop,
  limits: CallLimits,
  signal: AbortSignal,
): Promise<WireResponse> {
  const { target, targetOrigin: origin } = policy.route(hop.url);
  breaker.check(origin);
  const entry = lanes.enter(origin, signal);
  const leave = entry instanceof Promise ? await entry : entry;
  try {
    const hasSpace = hold.reserveNow(BODIES.firstBytes) || (await hold.reserve(BODIES.firstBytes, signal));
    if (!hasSpace) throw bodyMemoryExhausted(false);
    const { method, headers, body, url } = hop;
    const request = { origin, path: url.pathname + url.search, method, headers, body };
    return await breaker.run(origin, async () => {
      const { result, release } = await onConnection(pool, { origin, target }, signal, (client) =>
        exchange(client, request, bufferOf(limits, hold), limits, signal),
      );
      release();
      return result;
    });
  } finally {
    leave();
  }
}

/**
 * Makes a call on a connection. A pooled connection may turn out to be closed; if nothing was written to it, the call
 * uses another connection.
 *
 * @returns the result of the call, and the function that releases the connection
 */
export async function onConnection<T>(
  pool: ConnectionPool,
  destination: Destination,
  signal: AbortSignal,
  begin: (client: Dispatcher) => Promise<T>,
): Promise<{ result: T; release: () => void }> {
  for (;;) {
    const { client, isKept, release } = pool.takeKept(destination) ?? (await pool.open(destination, signal));
    try {
      return { result: await begin(client), release };
    } catch (error) {
      release();
      const wasClosed = isKept && error instanceof EgressError && error.kind === 'unreachable' && !error.sent;
      if (!wasClosed) throw error;
    }
  }
}

/**
 * Whether a body must be decompressed. Responses to HEAD, and with status 204 or 304, may have a Content-Encoding
 * without a body.
 */
function isCoded({ headers, body }: WireResponse): boolean {
  return headers['content-encoding'] !== undefined && body.length > 0;
}

/**
 * Creates the buffer of a response. The first bytes are not counted again, because they were reserved before the call
 * was sent.
 */
function bufferOf({ maxBytes, maxChunks }: CallLimits, hold: ByteHold): BodyBuffer {
  return new BodyBuffer({ maxBytes, maxChunks, hold, free: BODIES.firstBytes });
}

async function decoded(answer: WireResponse, limits: CallLimits, hold: ByteHold): Promise<WireResponse> {
  const { 'content-encoding': coding, 'content-length': _length, ...headers } = answer.headers;
  const { maxChunks } = limits;
  const inflated = (maxBytes: number) => new BodyBuffer({ maxBytes, maxChunks, hold, free: 0 });
  return { ...answer, headers, body: await inflate(answer.body, String(coding), limits, inflated) };
}
