import type { EnvironmentId } from '../../db/store.ts';
import type { ClientCredentials } from '../oauth/client-auth.ts';
import type { Discovered, Discovery } from '../oauth/discovery.ts';
import { settingProblem } from '../oauth/problem.ts';
import { issuerOf, type OAuthProvider, oauthProviderOf } from '../oauth/provider.ts';
import { type RevocationOutcome, revokeTokens } from '../oauth/revocation.ts';
import type { ProtocolFetch } from '../oauth/transport.ts';
import { Secret } from '../secret.ts';
import type { JsonObject } from './merge.ts';
import type { RevocationOrder } from './revocation-order.ts';

export interface AttemptDeps {
  discovery: Discovery;
  /** Returns a fetch that can reach only these origins. */
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  now(): number;
}

/**
 * Tries once to revoke the tokens of a revocation order (the stored data of a revocation job). Every request is
 * restricted to the origins that the tokens are bound to, regardless of the provider's metadata (threat P2).
 *
 * @param signal cancels running requests
 */
export async function attemptRevocation(
  { discovery, fetchFor, now }: AttemptDeps,
  environmentId: EnvironmentId,
  order: RevocationOrder,
  signal: AbortSignal,
): Promise<RevocationOutcome> {
  const { pattern, inputs, tokens, origins } = order;
  const pinned = await fetchFor(environmentId, origins);
  const fetch: ProtocolFetch = (url, init) => pinned(url, { ...init, signal });
  try {
    const declared = oauthProviderOf(pattern, inputs);
    const issuer = needsMetadata(declared) ? issuerOf(declared) : undefined;
    const request = { partition: environmentId, fetchFor: () => fetch };
    const found = issuer === undefined ? undefined : await discovery.discover({ ...request, issuer });
    if (found?.ok === false && found.kind !== 'no_metadata') return withoutMetadata(found);
    const provider = found?.ok ? oauthProviderOf(pattern, inputs, found) : declared;
    const [accessToken, refreshToken] = [tokenIn(tokens, 'access_token'), tokenIn(tokens, 'refresh_token')];
    return await revokeTokens({ provider, client: clientOf(order), accessToken, refreshToken, fetch, now });
  } catch (error) {
    const message = settingProblem(error);
    if (message === undefined) throw error;
    return { kind: 'failed', message };
  }
}

/**
 * Whether the provider's metadata must be requested: the pattern has an issuer, and it neither defines the revocation
 * nor says that there is none.
 */
function needsMetadata({ config: { issuer, revocation_uri: uri, revocation: way } }: OAuthProvider): boolean {
  return issuer !== undefined && uri === undefined && way?.call === undefined && way?.supported !== false;
}

function withoutMetadata(found: Discovered & { ok: false }): RevocationOutcome {
  if (found.kind !== 'unavailable' || found.reason === 'blocked') return { kind: 'failed', message: found.message };
  return { kind: 'retry_later', retryAfterMs: found.retryAfterMs, message: found.message };
}

/**
 * Returns the client of the order. Without a stored client, requests that need a client secret fail; requests that need
 * only the token still work.
 */
function clientOf({ client }: RevocationOrder): ClientCredentials {
  if (client === null) return { clientId: '', method: 'client_secret_basic', secret: null };
  const { id: clientId, method, secret } = client;
  return { clientId, method, secret: secret === null ? null : new Secret(secret) };
}

function tokenIn(tokens: JsonObject, name: string): Secret | null {
  const value = tokens[name];
  return typeof value === 'string' && value !== '' ? new Secret(value) : null;
}
