import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { EnvironmentId, EnvironmentRow, LoginProviderRow, ReadRepositories } from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';
import { ApiError } from '../errors.ts';
import type { OpenedSession } from '../mcp/session.ts';
import type { Discovery } from '../oauth/discovery.ts';
import { type JWTAccessTokenClaims, verifyJwtAccessToken } from '../oauth/jwt-access-token.ts';
import { isTransportFailure, type ProtocolFetch, restrictedToTarget } from '../oauth/transport.ts';
import { isRecord } from '../tools/pointer.ts';
import { identify } from './identity.ts';
import { serverOfResource } from './resource.ts';
import { readMcpScopes } from './scopes.ts';

export interface JwtDeps {
  store: { readonly read: ReadRepositories };
  discovery: Discovery;
  fetchFor(environmentId: EnvironmentId, origins: readonly string[]): ProtocolFetch | Promise<ProtocolFetch>;
  /** Milliseconds UTC. */
  now(): number;
}

/** Verifies access tokens of external authorization servers. */
export interface JwtVerifier {
  /**
   * Verifies a token for one MCP server.
   *
   * @throws ApiError LOGIN_PROVIDER_UNAVAILABLE if the keys of the authorization server cannot be read
   */
  verify(
    provider: LoginProviderRow,
    environment: EnvironmentRow,
    serverId: string,
    token: string,
  ): Promise<OpenedSession>;
}

/**
 * The source of a provider's signing keys. The keys are read once for all tokens. They are read again when they are
 * older than `MCP_LOGIN.keySetMs`, or for a token with an unknown key.
 */
interface KeySet {
  /** Metadata of the authorization server; the keys are cached as long as this object exists. */
  server: Parameters<typeof verifyJwtAccessToken>[0]['server'];
  fetch: ProtocolFetch;
}

const REJECTED: OpenedSession = { ok: false, authFailure: { reason: 'token' } };

/** Whether a token has the form of a JWT (RFC 7519 §3) and is not too long. Valetkey's own tokens have no dots. */
export function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token) && token.length <= MCP_LOGIN.jwtChars;
}

/**
 * Verifies JWT access tokens and reads their user. The keys are cached. For a token that is signed with an unknown key,
 * they are read again, at most once a minute.
 */
export function createJwtVerifier(deps: JwtDeps): JwtVerifier {
  const { store, discovery, fetchFor, now } = deps;
  const known = new LRUCache<string, { at: number; keys: Promise<KeySet> }>({ max: MCP_LOGIN.keySets });

  async function readKeySet({ environmentId, issuer }: LoginProviderRow): Promise<KeySet> {
    const asked = {
      issuer,
      partition: environmentId,
      fetchFor: (origins: readonly string[]) => fetchFor(environmentId, origins),
    };
    const found = await discovery.discover(asked);
    if (!found.ok || found.metadata.jwks_uri === undefined)
      throw unavailable(found.ok ? 'The metadata of the login provider has no jwks_uri.' : found.message);
    return { server: { ...found.metadata }, fetch: sharedFetch(restrictedToTarget(asked.fetchFor)) };
  }

  /**
   * Returns the cached keys if they are not older than `maxAgeMs`; otherwise reads them again. If reading fails, the
   * caller gets the error, and the old keys stay for callers that accept their age.
   */
  function keySetOf(provider: LoginProviderRow, maxAgeMs: number): Promise<KeySet> {
    const { id } = provider;
    const present = known.get(id);
    const age = present ? now() - present.at : Number.POSITIVE_INFINITY;
    if (present && age >= 0 && age < maxAgeMs) return present.keys;
    const entry = { at: now(), keys: readKeySet(provider) };
    known.set(id, entry);
    entry.keys.catch(() => {
      if (known.get(id) !== entry) return;
      if (present) known.set(id, present);
      else known.delete(id);
    });
    return entry.keys;
  }

  async function claimsOf(provider: LoginProviderRow, token: string, audience: string) {
    const { algorithms = [] } = provider.jwt ?? {};
    const verify = (keys: KeySet) => verifyJwtAccessToken({ ...keys, token, audience, algorithms, now });
    try {
      const keys = await keySetOf(provider, MCP_LOGIN.keySetMs);
      const first = await verify(keys);
      if (first.ok || !first.unknownKey) return first;
      const newer = await keySetOf(provider, MCP_LOGIN.keySetLeastMs);
      return newer === keys ? first : await verify(newer);
    } catch (error) {
      throw isTransportFailure(error) ? unavailable(error.message) : error;
    }
  }

  return {
    async verify(provider, environment, serverId, token) {
      const audience = await audienceOf(store.read, provider, environment, serverId, token);
      if (audience === undefined) return REJECTED;
      const verified = await claimsOf(provider, token, audience);
      if (!verified.ok) return REJECTED;
      const { claims } = verified;
      const { clientIds = null } = provider.jwt ?? {};
      if (clientIds && !clientIds.includes(claims.client_id)) return REJECTED;
      const identified = identify(provider, claims);
      if (!identified.ok) return { ok: false, authFailure: { reason: 'claims' } };
      return sessionOf(provider, claims, identified.subject);
    },
  };
}

/**
 * Returns the entry of a token's audience that identifies this MCP server: an audience from the provider's settings, or
 * the server's address under any host name of the environment. It is undefined if the audience has no such entry. The
 * token is not verified yet.
 */
async function audienceOf(
  read: ReadRepositories,
  { jwt }: LoginProviderRow,
  environment: EnvironmentRow,
  serverId: string,
  token: string,
): Promise<string | undefined> {
  const { aud } = payloadOf(token);
  const named = [aud].flat().filter((audience) => typeof audience === 'string');
  const listed = named.find((audience) => jwt?.audiences.includes(audience));
  if (listed !== undefined) return listed;
  for (const audience of named.slice(0, MCP_LOGIN.jwtAudiences)) {
    if ((await serverOfResource(read, environment, audience))?.id === serverId) return audience;
  }
  return undefined;
}

function payloadOf(token: string): Record<string, unknown> {
  try {
    const payload: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return isRecord(payload) ? payload : {};
  } catch {
    return {};
  }
}

/** Returns a fetch for one address only: concurrent callers share the request of the first one. */
function sharedFetch(fetch: ProtocolFetch): ProtocolFetch {
  let running: Promise<{ status: number; body: string; type: string }> | undefined;
  return async (url, init) => {
    running ??= fetch(url, init)
      .then(async (response) => ({
        status: response.status,
        body: await response.text(),
        type: response.headers.get('content-type') ?? '',
      }))
      .finally(() => {
        running = undefined;
      });
    const { status, body, type } = await running;
    return new Response(body, { status, headers: { 'content-type': type } });
  };
}

function sessionOf(
  { id, userVerifyUrl }: LoginProviderRow,
  { client_id: clientId, sub, exp, scope }: JWTAccessTokenClaims,
  user: { organizationId: string; userId: string; identifier: string },
): OpenedSession {
  const scopes = readMcpScopes(scope);
  // A hash, because claims can be long, and executions and rate limits need one id for each user and client.
  const context = createHash('sha256')
    .update(JSON.stringify([id, clientId, sub]))
    .digest('hex')
    .slice(0, 26);
  return {
    ok: true,
    grant: {
      clientId: `jwt_${context}`,
      sessionClient: clientId,
      user: {
        organizationId: user.organizationId || undefined,
        userId: user.userId || undefined,
        identifier: user.identifier,
      },
      userVerifyUrl,
      mayConnect: scopes.includes('tools:call'),
      scopes,
      expiresAt: exp * 1000,
    },
  };
}

function unavailable(message: string): ApiError {
  return new ApiError('LOGIN_PROVIDER_UNAVAILABLE', `The login provider cannot be used at the moment: ${message}`);
}
