import type { Response as GotResponse, Method } from 'got';
import { DOCUMENT_OPTIONS } from './document.ts';
import { EgressError } from './egress-error.ts';
import type { Protocol } from './protocol.ts';

/**
 * The part of fetch that libraries for OAuth and similar protocols use. Cookies are not stored. Only a request with
 * `isDocument` is retried after a temporary failure and follows redirects within its origin.
 */
export type FetchLike = (url: string | URL, init?: RequestInit & { isDocument?: boolean }) => Promise<Response>;

const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/**
 * Creates a fetch function that sends its requests with `Protocol`, for example for the `customFetch` of oauth4webapi.
 *
 * @param protocolOf called for each request
 * @param allowedOrigins allowed origins; if omitted, all that the policy allows
 * @returns a function that rejects with an EgressError; an error status is an ordinary response
 */
export function createFetchLike(protocolOf: () => Protocol, allowedOrigins?: readonly string[]): FetchLike {
  return async (url, init) => {
    const request = readRequest(url, init);
    const body = await request.bytes();
    const answer = await protocolOf()(request.url, {
      method: request.method as Method,
      headers: Object.fromEntries(request.headers),
      ...(body.length > 0 && { body }),
      responseType: 'buffer',
      signal: request.signal,
      context: { allowedOrigins },
      allowGetBody: true,
      ...(init?.isDocument && DOCUMENT_OPTIONS),
    });
    return toResponse(answer);
  };
}

/** Reads fetch's arguments with the platform's Request class: method, header values, body and content type. */
function readRequest(url: string | URL, init: RequestInit | undefined): Request {
  try {
    return new Request(url, init);
  } catch (cause) {
    throw new EgressError('blocked', 'The request has an invalid URL, method, header or body.', { cause });
  }
}

function toResponse(answer: GotResponse<Uint8Array>): Response {
  try {
    const headers = Object.entries(answer.headers).flatMap(([name, value]) => {
      return [value ?? []].flat().map((one): [string, string] => [name, one]);
    });
    const body = WITHOUT_BODY.has(answer.statusCode) ? null : new Uint8Array(answer.rawBody);
    return new Response(body, { status: answer.statusCode, headers });
  } catch (cause) {
    throw new EgressError('invalid_response', 'The response has an invalid status or header.', { sent: true, cause });
  }
}
