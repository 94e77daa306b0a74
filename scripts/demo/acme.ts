import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { memoryAdapter } from './provider-memory.ts';

/** The public address of Acme. Acme runs on loopback; `VALETKEY_ENDPOINT_OVERRIDES` maps this address to it. */
export const ACME = 'https://acme.example';

/**
 * Acme Files: a third-party application, with an authorization server that users sign in to and an API that only
 * accepts its valid tokens. It requires PKCE, accepts a code once, rotates refresh tokens and supports revocation.
 */
export interface Acme {
  /** The actual address of Acme, on loopback. */
  origin: string;
  /** Registers a client, as a developer would do on a page of the provider. */
  register(client: { client_id: string; client_secret: string; redirect_uri: string }): Promise<void>;
  isAlive(accessToken: string): Promise<boolean>;
  /** The number of requests to its token endpoint so far, by grant type. */
  grants: Map<string, number>;
  stop(): Promise<void>;
}

/** The authorization pattern of the custom provider that represents Acme. */
export const ACME_PATTERN = {
  type: 'OAUTH',
  display_name: 'Acme account',
  oauth_config: {
    issuer: ACME,
    authorize_uri: `${ACME}/auth`,
    token_uri: `${ACME}/token`,
    user_info_uri: `${ACME}/me`,
    revocation_uri: `${ACME}/token/revocation`,
    available_scopes: [
      { scope: 'openid', display_name: 'Who you are', description: 'Your user name at Acme', required: true },
      { scope: 'files:read', display_name: 'Read files', description: 'Open every file of yours', required: true },
    ],
  },
};

const KNOWN_AS = { 'x-forwarded-proto': 'https', 'x-forwarded-host': new URL(ACME).host };

/** @param tokenLifeSeconds the lifetime of its access tokens */
export async function startAcme(tokenLifeSeconds: number, port = 0): Promise<Acme> {
  const adapter = memoryAdapter();
  const day = 86_400;
  const provider = new Provider(ACME, {
    adapter,
    clients: [],
    clockTolerance: 0,
    cookies: { keys: [randomBytes(16).toString('hex')] },
    features: { devInteractions: { enabled: false }, revocation: { enabled: true, allowedPolicy: isOwn } },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/sign-in/${uid}` },
    issueRefreshToken: () => true,
    jwks: { keys: [generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access', 'files:read'],
    ttl: {
      AccessToken: tokenLifeSeconds,
      Grant: day,
      IdToken: 3600,
      RefreshToken: day,
      Session: day,
      Interaction: 3600,
    },
  });
  const grants = new Map<string, number>();
  provider.use(async (context, next) => {
    await next();
    const grant = context.path === '/token' ? context.oidc?.body?.['grant_type'] : undefined;
    if (grant !== undefined) grants.set(grant, (grants.get(grant) ?? 0) + 1);
  });
  provider.proxy = true;
  const authorize = provider.callback();
  const server = createServer((req, res) => {
    // Browsers use Acme's actual address. Other programs call it by its public host name, as behind a proxy.
    if (!/^\/(auth|sign-in)\b/.test(req.url ?? '')) Object.assign(req.headers, KNOWN_AS);
    if (req.url?.startsWith('/sign-in/')) void signIn(provider, req, res);
    else if (req.url?.startsWith('/files')) void showFiles(provider, req, res);
    else authorize(req, res);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    register: ({ redirect_uri, ...client }) =>
      adapter('Client').upsert(client.client_id, {
        ...client,
        redirect_uris: [redirect_uri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
      }),
    isAlive: async (accessToken) => (await provider.AccessToken.find(accessToken)) !== undefined,
    grants,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Whether a client may revoke a token: only if the token was issued to it. */
function isOwn(_context: unknown, client: { clientId: string }, token: { clientId: string }): boolean {
  return client.clientId === token.clientId;
}

/** The API: returns the files of the token's user. */
async function showFiles(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const [, given = ''] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? [];
  const found = given === '' ? undefined : await provider.AccessToken.find(given);
  const token = found as { accountId: string; scope?: string } | undefined;
  const json = { 'content-type': 'application/json' };
  if (!token?.scope?.split(' ').includes('files:read')) {
    res.writeHead(401, { ...json, 'www-authenticate': 'Bearer error="invalid_token"' });
    res.end('{"error":"invalid_token"}');
    return;
  }
  res.writeHead(200, json).end(JSON.stringify({ owner: token.accountId, files: ['plans.txt', 'punched-cards.csv'] }));
}

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in to Acme Files</title><style>
:root { color-scheme: light dark }
body { font: 1rem / 1.5 system-ui, sans-serif; margin: 10vh auto 0; width: min(24rem, 100% - 2rem) }
h1 { font-size: 1.5rem }
label, input { display: block }
input, button { box-sizing: border-box; font: inherit; padding: 0.5rem 1rem; width: 100% }
button { margin-top: 0.75rem }
</style>
<main><h1>Sign in to Acme Files</h1><p>An application asks to read your files. Any user name will do here.</p><form method="post">
<p><label for="login">User name</label> <input id="login" name="login" value="alice">
<p><button name="answer" value="allow">Allow</button> <button name="answer" value="deny">Deny</button></form></main></html>`;

/** A single page for signing in and giving consent. */
async function signIn(provider: Provider, req: IncomingMessage, res: ServerResponse): Promise<void> {
  if (req.method !== 'POST') {
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
    return;
  }
  const form = new URLSearchParams(await readText(req));
  const finish = (result: object) =>
    provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false }).catch(() => {
      res.writeHead(400, { 'content-type': 'text/plain' }).end('This page is out of date. Start again at the link.');
    });
  if (form.get('answer') !== 'allow') return finish({ error: 'access_denied' });
  const details = await provider.interactionDetails(req, res).catch(() => null);
  const accountId = form.get('login') || 'alice';
  const grant = new provider.Grant({ accountId, clientId: String(details?.params['client_id']) });
  grant.addOIDCScope(String(details?.params['scope'] ?? ''));
  return finish({ login: { accountId }, consent: { grantId: await grant.save() } });
}

async function readText(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
