import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider from 'oidc-provider';
import { EgressPolicy } from '../../../core/net/policy.ts';
import type { FetchFor } from '../../../core/oauth/transport.ts';
import { memoryAdapter } from '../../../scripts/demo/provider-memory.ts';
import { TestBrowser } from '../../support/browser.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { type Local, serve, startEgress } from '../net/local.ts';

export const ISSUER = 'https://consent.example';
export const SECRET = 'a-client-secret-of-some-length';
export const REDIRECT_URI = 'https://valetkey.example/oauth/callback/conn_1';
export const RESOURCE = 'https://api.example/';

/** An independent authorization server: users who sign in, discovery, and all endpoints that a client needs. */
export interface ConsentServer {
  fetchFor: FetchFor;
  /**
   * Opens an address as a browser whose user consents to everything. @returns the callback to which the browser is
   * redirected
   */
  consent(url: string, login?: string): Promise<URL>;
  /** The number of requests to a path so far. */
  requests(path: string): number;
  isAlive(accessToken: string): Promise<boolean>;
}

interface Owned {
  clientId: string;
}

const KEY = rsaPair('client');
/** The private key of the client `signing`, in PEM. */
export const SIGNING_KEY = KEY.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

const CODE = { grant_types: ['authorization_code', 'refresh_token'], redirect_uris: [REDIRECT_URI] };
const MACHINE = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [], scope: 'read write' };

export async function startConsentServer(more: object = {}): Promise<ConsentServer> {
  const signing = {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...KEY.publicKey.export({ format: 'jwk' }), use: 'sig' }] },
  };
  const provider = new Provider(ISSUER, {
    adapter: memoryAdapter(),
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    clients: [
      { client_id: 'basic', client_secret: SECRET, ...CODE },
      { client_id: 'other', client_secret: SECRET, ...CODE },
      { client_id: 'post', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_post', ...CODE },
      { client_id: 'public', token_endpoint_auth_method: 'none', ...CODE },
      { client_id: 'signing', ...signing, ...CODE },
      { client_id: 'pushing', client_secret: SECRET, require_pushed_authorization_requests: true, ...CODE },
      { client_id: 'machine', client_secret: SECRET, ...MACHINE },
      { client_id: 'signing-machine', ...signing, ...MACHINE },
    ],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    conformIdTokenClaims: false,
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      pushedAuthorizationRequests: { enabled: true },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: 'read write', accessTokenFormat: 'opaque' }),
        useGrantedResource: () => true,
      },
      revocation: {
        enabled: true,
        allowedPolicy: (_context: unknown, client: Owned, token: Owned) => token.clientId === client.clientId,
      },
    },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, email: `${accountId}@b.example`, email_verified: true }),
    }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    jwks: { keys: [KEY.privateKey.export({ format: 'jwk' })] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access', 'email', 'read', 'write'],
    ttl: {
      AccessToken: 3600,
      ClientCredentials: 600,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 600,
    },
    ...more,
  });
  provider.proxy = true;
  const answer = provider.callback();
  const local: Local = await serve(async (request, response) => {
    // The server assumes that it is behind a proxy that terminates TLS.
    request.headers['x-forwarded-proto'] = 'https';
    request.headers['x-forwarded-host'] = new URL(ISSUER).host;
    if (!request.url?.startsWith('/interaction/')) return answer(request, response);
    await agree(provider, request, response);
  });
  const overrides = [{ origin: ISSUER, target: local.origin }];
  return {
    fetchFor: startEgress(new EgressPolicy({ allow: [], overrides })).pinnedFetch,
    consent: (url, login = 'alice') => consent(url, login, local.origin),
    requests: (path) => local.requests.filter(({ url }) => url?.split('?')[0] === path).length,
    isAlive: async (token) =>
      Boolean((await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token))),
  };
}

/** Signs in the user that the cookie names, and consents to everything. */
async function agree(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params, grantId, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    const accountId = /(?:^|; )login=(\w+)/.exec(request.headers.cookie ?? '')?.[1];
    return provider.interactionFinished(request, response, { login: { accountId } });
  }
  const found = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const grant = found ?? new provider.Grant({ accountId: session?.accountId, clientId: params['client_id'] });
  grant.addOIDCScope(params['scope'] ?? '');
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

async function consent(url: string, login: string, target: string): Promise<URL> {
  const browser = new TestBrowser({ hosts: { [ISSUER]: target } });
  browser.setCookie(ISSUER, 'login', login);
  const page = await browser.follow(await browser.open(url), ({ href }) => href.startsWith(REDIRECT_URI));
  if (page.location === undefined) throw new Error(`the flow ended at ${page.url}: ${page.status} ${page.text}`);
  return new URL(page.location);
}
