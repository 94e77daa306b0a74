import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import Provider, * as oidc from 'oidc-provider';
import type { AuthPattern } from '../../core/connectors/auth-pattern.ts';
import { memoryAdapter } from '../../scripts/demo/provider-memory.ts';
import { rsaPair } from './rsa-pair.ts';
import type { Certificate } from './tls/certificates.ts';

/** A registered client, with member names of RFC 7591. */
export interface RegisteredClient {
  client_id: string;
  client_secret: string;
  redirect_uris: string[];
}

/**
 * An independent authorization server, with users who sign in and consent. It checks redirect addresses and PKCE,
 * accepts a code once, includes `iss` in its responses, rotates refresh tokens, and revokes.
 */
export interface AuthorizationServer {
  issuer: string;
  /** The value of VALETKEY_ENDPOINT_OVERRIDES that directs the issuer's address to this server. */
  override: string;
  /** The real address of the issuer. */
  target: string;
  /** The port of its TLS listener, for real browsers; 0 without a certificate. */
  securePort: number;
  register(client: RegisteredClient): Promise<void>;
  /** The number of requests to an endpoint, such as `/token`. */
  hits(path: string): number;
  /** Forms that were sent to an endpoint. */
  sent(path: string): Record<string, string>[];
  /** Whether an access token is valid. */
  isAlive(accessToken: string): Promise<boolean>;
  /** The scopes of an access token; undefined if it is not valid. */
  scopesOf(accessToken: string): Promise<string[] | undefined>;
  /** The launch context that a record system includes in its responses. */
  launchContext: Record<string, unknown>;
  /** Returns an OAuth pattern for this server. */
  pattern(config?: object): AuthPattern;
  stop(): Promise<void>;
}

export interface AuthorizationServerOptions {
  /** Distinguishes several servers; it is part of the issuer's host. */
  name?: string;
  certificate?: Certificate;
  /**
   * The base address of a FHIR server. If it is set, the server is a record system, which requires `aud` and returns
   * the patient in its responses.
   */
  fhirBase?: string;
  /** The resource for which tokens can be requested (RFC 8707). With it, clients can register themselves (RFC 7591). */
  resource?: string;
  /** Claims of the id_token beside `sub`, by the name of the user. */
  claimsOf?: (login: string) => Record<string, unknown>;
  /** The port, for a server whose address is on loopback with plain http. */
  localPort?: number;
  /** Whether its pages are isolated from the page that opened them (`Cross-Origin-Opener-Policy: same-origin`). */
  isIsolated?: boolean;
}

interface Owned {
  clientId: string;
}

const SCOPES = ['openid', 'offline_access', 'files:read', 'files:write'];

/** Starts a server on loopback. Its sign-in page lets a user choose an identity or decline. */
export async function startAuthorizationServer(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const { fhirBase, resource, localPort } = options;
  const issuer = localPort ? `http://127.0.0.1:${localPort}` : `https://${options.name ?? 'as'}.example`;
  const adapter = memoryAdapter();
  const provider = new Provider(issuer, {
    adapter,
    clients: [],
    ...(fhirBase && { extraParams: { aud: (_context: unknown, value: unknown) => demand(value === fhirBase) } }),
    cookies: { keys: [randomBytes(16).toString('hex')], long: { signed: true }, short: { signed: true } },
    features: {
      devInteractions: { enabled: false },
      ...(resource !== undefined && ofResource(resource)),
      revocation: {
        enabled: true,
        allowedPolicy: (_context: unknown, client: Owned, token: Owned) => token.clientId === client.clientId,
      },
    },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, email: `${accountId}@as.example`, ...options.claimsOf?.(accountId) }),
    }),
    ...(options.claimsOf && {
      claims: { openid: ['sub', 'email', 'email_verified', 'groups', 'name'] },
      conformIdTokenClaims: false,
    }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/sign-in/${uid}` },
    issueRefreshToken: () => true,
    jwks: { keys: [rsaPair(issuer).privateKey.export({ format: 'jwk' })] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: SCOPES,
    ttl: { AccessToken: 3600, Grant: 86_400, IdToken: 3600, RefreshToken: 86_400, Session: 86_400, Interaction: 3600 },
  });
  // The server receives its public host name, as from a proxy.
  provider.proxy = true;
  const { protocol, host } = new URL(issuer);
  const forwarded = { 'x-forwarded-proto': protocol.slice(0, -1), 'x-forwarded-host': host };
  const hits = new Map<string, Record<string, string>[]>();
  provider.use(async (context, next) => {
    const seen = hits.get(context.path) ?? [];
    hits.set(context.path, seen);
    const form: Record<string, string> = {};
    seen.push(form);
    await next();
    Object.assign(form, context.oidc?.body);
    if (fhirBase && form['code']) Object.assign(context.body as object, server.launchContext);
  });
  const answer = provider.callback();
  const listener: RequestListener = (req, res) => {
    Object.assign(req.headers, forwarded);
    if (options.isIsolated) res.setHeader('cross-origin-opener-policy', 'same-origin');
    if (req.url?.startsWith('/sign-in/')) void signIn(provider, req, res, resource);
    else if (fhirBase && req.url?.endsWith('/.well-known/smart-configuration')) smartConfiguration(issuer, res);
    else answer(req, res);
  };
  const { certificate } = options;
  const plain = createServer(listener);
  const secure = certificate && createSecureServer({ cert: certificate.cert, key: certificate.key }, listener);
  const target = `http://127.0.0.1:${await listen(plain, localPort)}`;
  const server: AuthorizationServer = {
    issuer,
    override: `${issuer}=${target}`,
    target,
    securePort: secure ? await listen(secure) : 0,
    register: (client) => adapter('Client').upsert(client.client_id, { ...GRANTS, ...client }),
    hits: (path) => hits.get(path)?.length ?? 0,
    sent: (path) => hits.get(path) ?? [],
    launchContext: { patient: '42', encounter: 'e-1' },
    isAlive: async (accessToken) => (await provider.AccessToken.find(accessToken)) !== undefined,
    scopesOf: async (accessToken) =>
      ((await provider.AccessToken.find(accessToken)) as { scope?: string } | undefined)?.scope?.split(' '),
    pattern: (config = {}) => ({
      type: 'OAUTH',
      display_name: 'Account',
      oauth_config: {
        issuer,
        authorize_uri: `${issuer}/auth`,
        token_uri: `${issuer}/token`,
        user_info_uri: `${issuer}/me`,
        revocation_uri: `${issuer}/token/revocation`,
        available_scopes: [
          { scope: 'openid', display_name: 'Who you are', description: 'Your user name', required: true },
          { scope: 'files:read', display_name: 'Read files', description: 'Open every file of yours', required: true },
          { scope: 'files:write', display_name: 'Change files' },
        ],
        ...config,
      },
    }),
    async stop() {
      for (const each of secure ? [plain, secure] : [plain]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
    },
  };
  return server;
}

async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const RESOURCE_SCOPES = ['files:read', 'files:write'];

/** Tokens are issued for the only known resource, and contain it; any other resource is an invalid target. */
function ofResource(resource: string) {
  return {
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => [],
      useGrantedResource: () => true,
      getResourceServerInfo: (_context: unknown, asked: string) => {
        if (asked !== resource) throw new oidc.errors.InvalidTarget();
        return { scope: RESOURCE_SCOPES.join(' '), audience: resource, accessTokenFormat: 'opaque' as const };
      },
    },
  };
}

function demand(holds: boolean): void {
  if (!holds) throw new oidc.errors.InvalidRequest('aud is not this FHIR server');
}

function smartConfiguration(issuer: string, res: ServerResponse): void {
  const endpoints = { authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
  const abilities = { code_challenge_methods_supported: ['S256'], capabilities: ['launch-standalone'] };
  res
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ issuer, ...endpoints, ...abilities }));
}

const GRANTS = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'client_secret_basic',
};

const FORM = `<!doctype html><html lang="en"><title>Sign in</title><link rel="icon" href="data:,"><h1>Sign in</h1>
<form method="post"><label for="login">User name</label> <input id="login" name="login">
<button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button></form></html>`;

/** One page for sign-in and consent. */
async function signIn(
  provider: Provider,
  req: IncomingMessage,
  res: ServerResponse,
  resource: string | undefined,
): Promise<void> {
  if (req.method !== 'POST') {
    res.writeHead(200, { 'content-type': 'text/html' }).end(FORM);
    return;
  }
  const form = new URLSearchParams(await read(req));
  if (form.get('answer') === 'deny') {
    const refusal = { error: 'access_denied', error_description: '<script>alert(1)</script>' };
    return provider.interactionFinished(req, res, refusal, { mergeWithLastSubmission: false });
  }
  const { params } = await provider.interactionDetails(req, res);
  const accountId = form.get('login') || 'alice';
  const grant = new provider.Grant({ accountId, clientId: String(params['client_id']) });
  grant.addOIDCScope(String(params['scope'] ?? ''));
  if (resource !== undefined) grant.addResourceScope(resource, RESOURCE_SCOPES.join(' '));
  const result = { login: { accountId }, consent: { grantId: await grant.save() } };
  return provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
}

async function read(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
