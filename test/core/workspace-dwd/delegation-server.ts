import { randomBytes } from 'node:crypto';
import { type JWTPayload, jwtVerify } from 'jose';
import Provider from 'oidc-provider';
import { EgressPolicy } from '../../../core/net/policy.ts';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import { Secret } from '../../../core/secret.ts';
import { memoryAdapter } from '../../../scripts/demo/provider-memory.ts';
import { rsaPair } from '../../support/rsa-pair.ts';
import { serve, startEgress } from '../net/local.ts';

export const ISSUER = 'https://workspace.example';
export const TOKEN_ENDPOINT = new URL('/token', ISSUER);
export const CLIENT_EMAIL = 'robot@project.iam.example';
const KEY_ID = 'key-1';
/** The users of the workspace, and the scopes that the administrator has delegated. */
export const USERS = ['maria@acme.example', 'jonas@acme.example'] as const;
const DELEGATED = ['openid', 'mail.read', 'calendar.read'] as const;

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const MAX_LIFE_S = 3600;

/**
 * A workspace whose token endpoint accepts assertions of one service account and verifies them with another library.
 */
export interface DelegationServer {
  origin: string;
  pinnedFetch(origins: readonly string[]): ProtocolFetch;
  /** Returns the user that a token acts for, from the workspace's userinfo endpoint; null for an unknown token. */
  whoIs(accessToken: Secret): Promise<string | null>;
  /** The number of token requests so far. */
  requests(): number;
}

/** The parts that the tests use of the package, which has few types. */
interface TokenContext {
  oidc: { params: Record<string, string>; client: object };
  status: number;
  body: unknown;
}

interface Extensible {
  registerGrantType(name: string, handler: (context: TokenContext) => Promise<void>, parameters: string[]): void;
  Grant: new (properties: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
  AccessToken: new (properties: object) => { save(): Promise<string>; expiration: number };
}

const keys = rsaPair('client');

/** The file that the owner of the service account downloads. */
export function keyFile(changes: Record<string, unknown> = {}): Secret {
  const file = {
    type: 'service_account',
    project_id: 'project',
    private_key_id: KEY_ID,
    private_key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }),
    client_email: CLIENT_EMAIL,
    client_id: '104000000000000000001',
    token_uri: TOKEN_ENDPOINT.href,
    ...changes,
  };
  return new Secret(JSON.stringify(file));
}

/** Starts a server on loopback; `closeAll` of test/core/net/local.ts ends it. */
export async function startDelegationServer(): Promise<DelegationServer> {
  const provider = new Provider(ISSUER, {
    adapter: memoryAdapter(),
    clients: [
      { client_id: 'delegation', client_secret: 'x', grant_types: [GRANT_TYPE], redirect_uris: [], response_types: [] },
    ],
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    jwks: { keys: [rsaPair('issuer').privateKey.export({ format: 'jwk' })] },
    scopes: [...DELEGATED],
    ttl: { AccessToken: MAX_LIFE_S, Grant: MAX_LIFE_S },
  });
  const { registerGrantType, Grant, AccessToken } = provider as unknown as Extensible;
  registerGrantType.call(
    provider,
    GRANT_TYPE,
    async (context) => {
      const verified = await verify(context.oidc.params['assertion'] ?? '');
      if ('error' in verified) {
        context.status = verified.error === 'unauthorized_client' ? 401 : 400;
        context.body = verified;
        return;
      }
      const scope = String(verified['scope']);
      const grant = new Grant({ accountId: verified.sub, clientId: 'delegation' });
      grant.addOIDCScope(scope);
      const grantId = await grant.save();
      const facts = { accountId: verified.sub, client: context.oidc.client, grantId, gty: 'jwt-bearer', scope };
      const token = new AccessToken(facts);
      context.body = { access_token: await token.save(), token_type: 'Bearer', expires_in: token.expiration };
    },
    ['assertion'],
  );
  // The server receives its public host name, as from a proxy.
  provider.proxy = true;
  const answer = provider.callback();
  const local = await serve((request, response) => {
    // The package requires a client in every token request. Here only the assertion identifies the client.
    const credentials = `Basic ${btoa('delegation:x')}`;
    if (request.url === '/token') request.headers.authorization = credentials;
    Object.assign(request.headers, { 'x-forwarded-proto': 'https', 'x-forwarded-host': new URL(ISSUER).host });
    answer(request, response);
  });
  const egress = startEgress(new EgressPolicy({ allow: [], overrides: [{ origin: ISSUER, target: local.origin }] }));
  return {
    origin: local.origin,
    pinnedFetch: egress.pinnedFetch,
    async whoIs(accessToken) {
      const headers = { authorization: `Bearer ${accessToken.reveal()}` };
      const response = await fetch(`${local.origin}/me`, { headers });
      return response.ok ? ((await response.json()) as { sub: string }).sub : null;
    },
    requests: () => local.requests.filter(({ url }) => url === '/token').length,
  };
}

/** Verifies an assertion. The error messages are those of a large provider. */
async function verify(assertion: string): Promise<JWTPayload | { error: string; error_description: string }> {
  const invalid = (error_description: string) => ({ error: 'invalid_grant', error_description });
  let payload: JWTPayload;
  try {
    const { payload: claims, protectedHeader } = await jwtVerify(assertion, keys.publicKey, {
      algorithms: ['RS256'],
      issuer: CLIENT_EMAIL,
      audience: TOKEN_ENDPOINT.href,
      requiredClaims: ['sub', 'scope', 'exp', 'iat'],
      maxTokenAge: MAX_LIFE_S,
      clockTolerance: 5,
    });
    if (protectedHeader.kid !== KEY_ID) return invalid('Invalid JWT Signature.');
    payload = claims;
  } catch (error) {
    const { code } = error as { code?: string };
    const signed = code !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED';
    return invalid(
      signed ? 'Invalid JWT: it must be short-lived and in a reasonable timeframe.' : 'Invalid JWT Signature.',
    );
  }
  if ((payload.exp ?? 0) - (payload.iat ?? 0) > MAX_LIFE_S) return invalid('Invalid JWT: it lives too long.');
  if (!USERS.some((user) => user === payload.sub)) return invalid('Invalid email or User ID');
  const scopes = String(payload['scope']).split(' ');
  if (scopes.every((scope) => DELEGATED.some((delegated) => delegated === scope))) return payload;
  return {
    error: 'unauthorized_client',
    error_description: 'Client is not authorized for any of the scopes requested.',
  };
}
