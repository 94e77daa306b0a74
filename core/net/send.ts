import type { Dispatcher } from 'undici';
import type { OriginBreaker } from './breaker.ts';
import { EgressError } from './egress-error.ts';
import { exchange, type ResponseHeaders, type WireResponse } from './exchange.ts';
import type { OriginGate } from './gate.ts';
import { flatHeaders, type HeaderInput, hasHeader } from './headers.ts';
import { inflate } from './inflate.ts';
import type { EgressLimits } from './limits.ts';
import type { EgressPolicy } from './policy.ts';
import { type Hop, sameOriginRedirect } from './redirect.ts';

export interface EgressRequest {
  method: string;
  url: URL;
  /** Names and values are checked. Framing, Host and proxy headers are refused. */
  headers?: HeaderInput;
  body?: string | Buffer;
  /** The origins that the credentials of this call were issued for; the origin of `url` must be one of them. */
  allowedOrigins: readonly string[];
  /** Default `none`: a redirect is handed on as the answer. So is, with `same-origin`, one that leaves the origin. */
  redirects?: 'none' | 'same-origin';
  /** Milliseconds for the whole call where that is less than the 30,000 of every call. */
  timeoutMs?: number;
  /** Milliseconds of silence once the answer has begun, default 10,000. */
  idleTimeoutMs?: number;
  /** Bytes of the body, on the wire and inflated, default 10 MiB. */
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface EgressResponse {
  status: number;
  /** Names in lower case. Without Content-Encoding and Content-Length when the body was inflated. */
  headers: ResponseHeaders;
  body: Buffer;
  /** The address that answered, after redirects and as it was asked for: an override does not show. */
  url: URL;
}

export interface SendParts {
  policy: EgressPolicy;
  agentOf: () => Dispatcher;
  gate: OriginGate;
  breaker: OriginBreaker;
  limits: EgressLimits;
  userAgent: string;
}

const METHOD = /^[A-Z][A-Z-]*$/;
const NEVER_SENT = new Set(['CONNECT', 'TRACE']);

/**
 * Makes the function that sends the call of a tool: one request, at most three same-origin redirects, one answer within limits.
 *
 * @throws EgressError; `sent` tells whether repeating the call is safe whatever its method
 */
export function createSend(parts: SendParts): (request: EgressRequest) => Promise<EgressResponse> {
  return async (request) => {
    const first = firstHop(request, parts.userAgent);
    const limits = {
      ...parts.limits,
      timeoutMs: Math.min(request.timeoutMs ?? Number.POSITIVE_INFINITY, parts.limits.timeoutMs),
      idleTimeoutMs: request.idleTimeoutMs ?? parts.limits.idleTimeoutMs,
      maxBytes: request.maxBytes ?? parts.limits.maxBytes,
    };
    return withinTime(limits.timeoutMs, request.signal, async (signal) => {
      const maxHops = request.redirects === 'same-origin' ? limits.maxRedirects : 0;
      const { hop, answer } = await follow({ ...parts, limits }, first, maxHops, signal);
      return { ...(await decoded(answer, limits)), url: hop.url };
    });
  };
}

/** The first request of a call, judged. @throws EgressError `blocked` */
export function firstHop(request: EgressRequest, userAgent: string): Hop {
  const { method, body = null } = request;
  // A copy: what was judged is what is sent, whatever the caller does with its object meanwhile.
  const url = new URL(request.url);
  if (!request.allowedOrigins.includes(url.origin)) {
    throw new EgressError('blocked', `${url.origin} is not among the origins that this call may reach.`);
  }
  if (!METHOD.test(method) || NEVER_SENT.has(method)) throw new EgressError('blocked', 'The method cannot be used.');
  const headers = flatHeaders(request.headers ?? []);
  if (!hasHeader(headers, 'accept-encoding')) headers.push('accept-encoding', 'gzip, br');
  if (!hasHeader(headers, 'user-agent')) headers.push('user-agent', userAgent);
  return { url, method, headers, body };
}

async function withinTime<T>(
  timeoutMs: number,
  caller: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const late = () => end.abort(new EgressError('timeout', `The call was not over within ${timeoutMs} ms.`));
  const stop = () => end.abort(new EgressError('aborted', 'The call was stopped.'));
  const timer = setTimeout(late, timeoutMs);
  caller?.addEventListener('abort', stop, { once: true });
  if (caller?.aborted) stop();
  try {
    return await work(end.signal);
  } finally {
    clearTimeout(timer);
    caller?.removeEventListener('abort', stop);
  }
}

async function follow(
  parts: SendParts,
  first: Hop,
  maxHops: number,
  signal: AbortSignal,
): Promise<{ hop: Hop; answer: WireResponse }> {
  let hop = first;
  for (let hops = 0; ; hops++) {
    const answer = await once(parts, hop, signal).catch((error: EgressError) => {
      throw hops === 0 ? error : error.afterSending();
    });
    const next = maxHops === 0 ? undefined : sameOriginRedirect(hop, answer.status, answer.headers);
    if (next === undefined) return { hop, answer };
    if (hops === maxHops) {
      throw new EgressError('invalid_response', `The call was redirected more than ${maxHops} times.`, { sent: true });
    }
    hop = next;
  }
}

async function once(
  { policy, agentOf, gate, breaker, limits }: SendParts,
  hop: Hop,
  signal: AbortSignal,
): Promise<WireResponse> {
  const { targetOrigin } = policy.route(hop.url);
  breaker.check(targetOrigin);
  const leave = await gate.enter(targetOrigin, signal);
  try {
    const { method, headers, body, url } = hop;
    const request = { origin: targetOrigin, path: url.pathname + url.search, method, headers, body };
    return await breaker.run(targetOrigin, () => exchange(agentOf(), request, limits, signal));
  } finally {
    leave();
  }
}

async function decoded(answer: WireResponse, limits: EgressLimits): Promise<WireResponse> {
  const { 'content-encoding': coding, 'content-length': _length, ...headers } = answer.headers;
  // The answer to a HEAD, a 204 and a 304 may name the coding of a body that they do not have.
  if (coding === undefined || answer.body.length === 0) return answer;
  return { ...answer, headers, body: await inflate(answer.body, String(coding), limits) };
}
