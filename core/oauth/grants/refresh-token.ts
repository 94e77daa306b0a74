import { type Client, type CustomFetchOptions, customFetch, refreshTokenGrantRequest } from 'oauth4webapi';
import type { Secret } from '../../secret.ts';
import { type ClientCredentials, clientAuthOf } from '../client-auth.ts';
import { OAuthConfigError } from '../config-error.ts';
import { outcomeOfCode, outcomeOfFailure, type RefreshOutcome, unavailable } from '../refresh-outcome.ts';
import { readRetryAfter } from '../retry-after.ts';
import type { TokenServer } from '../server.ts';
import { readTokenAnswer, type TokenReading } from '../token-answer.ts';
import { isTransportFailure, type ProtocolFetch } from '../transport.ts';

export interface RefreshTokenGrant {
  server: TokenServer;
  client: ClientCredentials;
  refreshToken: Secret;
  /** Pinned to the origin of the token endpoint, and bounded in time. */
  fetch: ProtocolFetch;
  /** Milliseconds UTC. */
  now: () => number;
}

/**
 * Spends a refresh token: one request, judged (RFC 6749 §6). No scope is asked for, so the grant keeps the one it has.
 *
 * @returns how it ended; a failure that is expected is a value
 * @throws what is a mistake of ours
 */
export async function refreshTokenGrant(grant: RefreshTokenGrant): Promise<RefreshOutcome> {
  const requestedAt = grant.now();
  try {
    const response = await request(grant);
    return await judge(response, { requestedAt, scopeSeparator: grant.server.scopeSeparator }, grant.now());
  } catch (error) {
    if (isTransportFailure(error)) return outcomeOfFailure(error);
    if (error instanceof OAuthConfigError) return { ok: false, kind: 'client', message: error.message };
    throw error;
  }
}

async function request({ server, client, refreshToken, fetch, now }: RefreshTokenGrant): Promise<Response> {
  const registered: Client = { client_id: client.clientId };
  const authentication = clientAuthOf(client, now);
  return refreshTokenGrantRequest(server.metadata, registered, authentication, refreshToken.reveal(), {
    additionalParameters: { ...server.extraParameters },
    [customFetch]: (url, options) => fetch(url, inFormat(server, options)),
  });
}

/** The body as the provider wants it; the library writes forms. */
function inFormat({ requestFormat }: TokenServer, options: CustomFetchOptions<'POST', URLSearchParams>): RequestInit {
  const { 'user-agent': _theLibrary, ...headers } = options.headers;
  if (requestFormat === 'form') return { ...options, headers };
  return {
    ...options,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(options.body)),
  };
}

/** Tells the classes of failure apart (threat R6). The status decides where it is clear, else the code of the body does. */
async function judge(response: Response, reading: TokenReading, now: number): Promise<RefreshOutcome> {
  const { status, headers } = response;
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now);
  if (status === 429) return unavailable('rate_limited', false, retryAfterMs);
  if (status >= 500) return unavailable('server_error', true, retryAfterMs);
  const answer = await readTokenAnswer(response, reading);
  if (answer.kind === 'error' && answer.code !== '') return outcomeOfCode(answer.code, retryAfterMs);
  if (status === 401) return outcomeOfCode('invalid_client');
  if (!response.ok)
    return unavailable('invalid_response', false, retryAfterMs, `The token endpoint answered ${status}.`);
  if (answer.kind === 'tokens') return { ok: true, tokens: answer.tokens };
  const problem = answer.kind === 'unreadable' ? answer.problem : 'carries an unknown error';
  return unavailable('invalid_response', true, retryAfterMs, `The answer of the token endpoint ${problem}.`);
}
