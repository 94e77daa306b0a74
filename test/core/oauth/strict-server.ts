import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Provider from 'oidc-provider';
import { EgressPolicy } from '../../../core/net/policy.ts';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import { memoryAdapter } from '../../../scripts/demo/provider-memory.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { serve, startEgress } from '../net/local.ts';

export const ISSUER = 'https://as.example';
export const TOKEN_URI = `${ISSUER}/token`;
export const SECRET = 'a-client-secret-of-some-length';

/** An independent authorization server: it rotates refresh tokens, and a token that is used twice ends its grant. */
export interface StrictServer {
  /** The real address of requests to the issuer. */
  origin: string;
  /**
   * As `pinnedFetch` of core/net. Requests to the issuer go to this server.
   *
   * @param origins the only ones it may call
   */
  pinnedFetch(origins: readonly string[]): ProtocolFetch;
  /** Issues a refresh token as a finished authorization would. */
  issue(clientId?: string): Promise<string>;
  /** Whether an access token is valid. */
  isAlive(accessToken: string): Promise<boolean>;
  /** Ends an access token of a machine client. */
  revoke(accessToken: string): Promise<void>;
  /** The number of token requests so far. */
  requests(): number;
}

export interface StrictServerOptions {
  /** Further clients with their metadata of RFC 7591, in addition to `basic`, `post` and `public`. */
  clients?: object[];
  /** The lifetime of access tokens in seconds. */
  lifeS?: number;
  /** Runs before each request is served. */
  before?: (request: IncomingMessage) => Promise<void>;
}

const GRANTS = { grant_types: ['authorization_code', 'refresh_token'], redirect_uris: ['https://app.example/cb'] };
const SCOPE = 'openid offline_access';

/** Starts a server on loopback; `closeAll` of test/core/net/local.ts ends it. */
export async function startStrictServer(options: StrictServerOptions = {}): Promise<StrictServer> {
  const provider = new Provider(ISSUER, {
    adapter: memoryAdapter(),
    clients: [
      { client_id: 'basic', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_basic', ...GRANTS },
      { client_id: 'post', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_post', ...GRANTS },
      { client_id: 'public', token_endpoint_auth_method: 'none', ...GRANTS },
      ...(options.clients ?? []).map((client) => ({ ...GRANTS, ...client })),
    ],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_context: unknown, client: { clientId: string }, token: { clientId: string }) =>
          token.clientId === client.clientId,
      },
    },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    jwks: { keys: [rsaPair('issuer').privateKey.export({ format: 'jwk' })] },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access'],
    ttl: {
      AccessToken: options.lifeS ?? 3600,
      ClientCredentials: options.lifeS ?? 3600,
      Grant: 86_400,
      IdToken: 3600,
      RefreshToken: 86_400,
    },
  });
  // The server receives its public host name, as from a proxy.
  provider.proxy = true;
  let tokenRequests = 0;
  const answer = provider.callback();
  const local = await serve(async (request, response) => {
    if (request.url === '/token') tokenRequests++;
    await options.before?.(request);
    Object.assign(request.headers, { 'x-forwarded-proto': 'https', 'x-forwarded-host': new URL(ISSUER).host });
    answer(request, response);
  });
  const overrides = [{ origin: ISSUER, target: local.origin }];
  const egress = startEgress(new EgressPolicy({ allow: [], overrides }));
  return {
    origin: local.origin,
    pinnedFetch: egress.pinnedFetch,
    async issue(clientId = 'basic') {
      const client = await provider.Client.find(clientId);
      const grant = new provider.Grant({ accountId: 'alice', clientId });
      grant.addOIDCScope(SCOPE);
      const grantId = await grant.save();
      const token = { accountId: 'alice', client, grantId, gty: 'authorization_code', scope: SCOPE };
      return new provider.RefreshToken({ ...token, expiresWithSession: false }).save();
    },
    async isAlive(accessToken) {
      const { AccessToken, ClientCredentials } = provider;
      return ((await AccessToken.find(accessToken)) ?? (await ClientCredentials.find(accessToken))) !== undefined;
    },
    revoke: async (accessToken) => (await provider.ClientCredentials.find(accessToken))?.destroy(),
    requests: () => tokenRequests,
  };
}
