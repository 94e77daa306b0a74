import { customFetch, pushedAuthorizationRequest } from 'oauth4webapi';
import { isRecord } from '../tools/pointer.ts';
import { type ClientCredentials, clientAuthOf } from './client-auth.ts';
import { readJson } from './json-response.ts';
import { outcomeOfCode, type TokenFailure, unavailable } from './refresh-outcome.ts';
import { readRetryAfter } from './retry-after.ts';
import type { TokenServer } from './server.ts';
import { CHECKED_ENDPOINTS, type ProtocolFetch } from './transport.ts';

export interface PushedRequest {
  endpoint: URL;
  server: TokenServer;
  client: ClientCredentials;
  parameters: [name: string, value: string][];
  fetch: ProtocolFetch;
  now: () => number;
}

export type Pushed = { ok: true; requestUri: string } | TokenFailure;

/**
 * Sends an authorization request to the server before the browser is redirected (RFC 9126 §2).
 *
 * @returns the reference to the request, or why there is none
 */
export async function pushRequest({
  endpoint,
  server,
  client,
  parameters,
  fetch,
  now,
}: PushedRequest): Promise<Pushed> {
  const metadata = { ...server.metadata, pushed_authorization_request_endpoint: endpoint.href };
  const response = await pushedAuthorizationRequest(
    metadata,
    { client_id: client.clientId },
    clientAuthOf(client, now, server.wire.basic),
    new URLSearchParams(parameters),
    {
      ...CHECKED_ENDPOINTS,
      [customFetch]: (url, { headers: { 'user-agent': _theLibrary, ...headers }, ...options }) =>
        fetch(url, { ...options, headers: { ...headers, ...server.wire.headers } }),
    },
  );
  const { status, headers } = response;
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now());
  if (status === 429) return unavailable('rate_limited', false, retryAfterMs);
  if (status >= 500) return unavailable('server_error', false, retryAfterMs);
  const body = await readJson(response);
  const { request_uri: requestUri, error } = isRecord(body) ? body : {};
  if (typeof error === 'string') return outcomeOfCode(error.toLowerCase(), retryAfterMs);
  if (status === 401) return outcomeOfCode('invalid_client');
  const isUsable = response.ok && typeof requestUri === 'string' && /^[\x21-\x7e]{1,2048}$/.test(requestUri);
  return isUsable ? { ok: true, requestUri } : unavailable('invalid_response', false, retryAfterMs);
}
