import type { CustomFetchOptions } from 'oauth4webapi';
import { outcomeOfCode, type TokenOutcome, unavailable } from './refresh-outcome.ts';
import { readRetryAfter } from './retry-after.ts';
import type { TokenServer } from './server.ts';
import { readTokenResponse } from './token-response.ts';
import type { ProtocolFetch } from './transport.ts';

/**
 * Returns the fetch that the OAuth library uses for token requests. It converts standard requests to the provider's
 * format.
 */
export function tokenFetch(server: TokenServer, fetch: ProtocolFetch, endpoint: URL = server.tokenEndpoint) {
  return (_url: string, options: CustomFetchOptions<'POST', URLSearchParams>): Promise<Response> => {
    const { 'user-agent': _theLibrary, ...headers } = options.headers;
    const body = providerParameters(server, options.body);
    const written = { ...headers, ...server.wire.headers };
    if (server.requestFormat === 'form') return fetch(endpoint, { ...options, headers: written, body });
    return fetch(endpoint, {
      ...options,
      headers: { ...written, 'content-type': 'application/json' },
      body: JSON.stringify(Object.fromEntries(body)),
    });
  };
}

function providerParameters({ wire }: TokenServer, standard: URLSearchParams): URLSearchParams {
  const own = new URLSearchParams();
  for (const [name, value] of standard) {
    if (wire.omit.has(name)) continue;
    const renamed = Object.hasOwn(wire.names, name) ? wire.names[name] : undefined;
    const isGrant = name === 'grant_type' && Object.hasOwn(wire.grantTypes, value);
    own.append(renamed ?? name, isGrant ? (wire.grantTypes[value] ?? value) : value);
  }
  return own;
}

/**
 * Evaluates the response to a token request and classifies failures (threat R6): by the status if it is unambiguous,
 * otherwise by the error code in the body.
 *
 * @param requestedAt when the request was sent, milliseconds UTC
 * @param now milliseconds UTC
 */
export async function readTokenOutcome(
  response: Response,
  server: TokenServer,
  requestedAt: number,
  now: number,
): Promise<TokenOutcome> {
  const { status, headers } = response;
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now);
  if (status === 429) return unavailable('rate_limited', false, retryAfterMs);
  if (status >= 500) return unavailable('server_error', true, retryAfterMs);
  const { scopeSeparator, answer: shape } = server;
  const answer = await readTokenResponse(response, { scopeSeparator, shape, requestedAt });
  if (answer.kind === 'error' && answer.code !== '') return outcomeOfCode(answer.code, retryAfterMs);
  if (status === 401) return outcomeOfCode('invalid_client');
  if (!response.ok)
    return unavailable('invalid_response', false, retryAfterMs, `The token endpoint returned ${status}.`);
  if (answer.kind === 'tokens') return { ok: true, tokens: answer.tokens, answer: answer.answer };
  const problem = answer.kind === 'unreadable' ? answer.problem : 'is an error without a valid code';
  return unavailable('invalid_response', true, retryAfterMs, `The response of the token endpoint ${problem}.`);
}
