import { sign } from 'node:crypto';
import type { Egress } from '../../core/net/egress.ts';
import { verifyIdToken } from '../../core/oauth/id-token.ts';
import { oauthProviderOf } from '../../core/oauth/provider.ts';
import { revokeTokens } from '../../core/oauth/revocation.ts';
import { Secret } from '../../core/secret.ts';
import type { Tool } from '../../core/tools/tool.ts';
import { createAccount } from '../support/accounts.ts';
import { TestBrowser } from '../support/browser.ts';
import { execute } from '../support/execute.ts';
import { makeLink, submitLink } from '../support/links.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../support/providers.ts';
import { openRaw } from '../support/raw-http.ts';
import { rsaPair } from '../support/rsa-pair.ts';
import type { TestServer } from '../support/server.ts';
import { type Honest, play, type Seen } from './player.ts';
import type { Shape } from './shapes.ts';

/** Secrets that no response may contain. */
export const SECRETS = {
  apiKey: 'hostile-api-key-0123456789',
  token: 'hostile-bearer-token-0123456789',
  clientSecret: 'hostile-client-secret-0123456789',
  accessToken: 'hostile-access-token-0123456789',
  refreshToken: 'hostile-refresh-token-0123456789',
};

/** Where a test runs. */
export interface Place {
  server: TestServer;
  egress: Egress;
  /** The origin of a server with short time limits for slow requests. */
  impatient: string;
  /** The origin of the third party. */
  origin: string;
  shape: Shape;
  /** Identifies what the test creates. */
  id: string;
}

/** The result of a test: the response of this service, or the result of an engine. */
export interface Outcome {
  status?: number;
  text: string;
}

/** A place in the program that reads bytes of a third party. */
export interface Way {
  name: string;
  /** `sends`: the third party is a client of this service, not a server. */
  sends?: true;
  /** The caller sees what the third party sends, without the credential. */
  shows?: true;
  /** Statuses that the server may return; null if it forwards those of the third party. */
  statuses: readonly number[] | null;
  /** The correct responses of the third party before the tested request. */
  honest?: (origin: string) => Honest;
  try(place: Place): Promise<Outcome>;
}

const CALL_STATUSES = [200, 409, 502, 503, 504];
const PAGE_STATUSES = [200, 303, 400, 403, 409, 410, 502, 503];

const rest: Way = {
  name: 'a tool call',
  shows: true,
  statuses: CALL_STATUSES,
  async try(place) {
    return execute(place.server, await keyedAccount(place), 'http_get', { path: '/things' });
  },
};

const raw: Way = {
  name: 'a raw call',
  shows: true,
  statuses: null,
  async try(place) {
    const headers = { 'valetkey-account-id': await keyedAccount(place) };
    return place.server.call('GET', '/api/v1/proxy/things', { headers }).catch(cutOff);
  },
};

const nextList = oneByOne();

const mcpList: Way = {
  name: 'the tools of an MCP server',
  statuses: CALL_STATUSES,
  async try(place) {
    const { connector } = await mcpAccount(place);
    return nextList(() => place.server.call('POST', `/api/v1/custom-providers/${connector}:sync_tools`, { body: {} }));
  },
};

const TOOL: Omit<Tool, 'connector' | 'name'> = {
  title: 'Look',
  description: 'Looks.',
  tags: ['mcp'],
  hints: { read_only: true, destructive: false, idempotent: true, open_world: true },
  scopes: [],
  input_schema: { type: 'object' },
  output_schema: { type: 'object' },
  examples: [],
  request: { method: 'POST', path: '' },
  mcp: { name: 'look', pin: '' },
};

const mcpCall: Way = {
  name: 'a call of an MCP server',
  statuses: CALL_STATUSES,
  async try(place) {
    const { connector, accountId } = await mcpAccount(place);
    const name = `${connector.replaceAll('-', '_')}_look`;
    const { id: environmentId } = await place.server.parts.environmentOf('localhost');
    const definition = { ...TOOL, connector, name };
    const row = { name, connector, source: 'mcp' as const, sourceId: 'look', definition, flagged: null, at: 0 };
    await place.server.parts.store.write((tx) => tx.environmentTools.upsert(environmentId, [row]));
    return execute(place.server, accountId, name);
  },
};

const machineToken: Way = {
  name: 'the token of a machine client',
  statuses: CALL_STATUSES,
  honest:
    () =>
    ({ path }) =>
      path === '/token' ? undefined : { body: { ok: true } },
  async try({ server, origin }) {
    const oauth_config = { token_uri: `${origin}/token`, client_auth_method: 'client_secret_post' };
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: origin,
      auth_patterns: [{ type: 'OAUTH_M2M', oauth_config }],
    });
    const client = { client_id: 'machine', client_secret: SECRETS.clientSecret };
    const connection = await createConnection(server, { connector: identifier, type: 'OAUTH_M2M', ...client });
    const { id } = await createAccount(server, { connector: connection.key_id, connectedAccount: {} });
    return execute(server, id, 'http_get', { path: '/things' });
  },
};

const TOKENS = {
  access_token: SECRETS.accessToken,
  refresh_token: SECRETS.refreshToken,
  token_type: 'bearer',
  expires_in: 3600,
};

const codeExchange: Way = {
  name: 'the exchange of a code',
  statuses: PAGE_STATUSES,
  honest:
    () =>
    ({ path }) =>
      path.startsWith('/token') ? undefined : { body: { id: 'user-1' } },
  try: consent,
};

const identity: Way = {
  name: 'the identity of a user',
  statuses: PAGE_STATUSES,
  honest:
    () =>
    ({ path }) =>
      path.startsWith('/me') ? undefined : { body: TOKENS },
  try: consent,
};

const discovery: Way = {
  name: 'the metadata of an authorization server',
  statuses: PAGE_STATUSES,
  async try({ server, origin }) {
    const connector = await oauthConnector(server, { issuer: origin });
    return beginConsent(server, connector);
  },
};

const registration: Way = {
  name: 'the registration of a client',
  statuses: PAGE_STATUSES,
  honest: (origin) => (request) => {
    const { path } = request;
    if (path.startsWith('/register')) return undefined;
    if (path.includes('oauth-protected-resource')) {
      return { body: { resource: `${origin}/mcp`, authorization_servers: [origin] } };
    }
    if (path.includes('.well-known')) return { body: metadataOf(origin) };
    return { status: 401, body: {} };
  },
  async try({ server, origin }) {
    const { identifier } = await createProvider(server, {
      auth_patterns: [{ type: 'OAUTH', is_mcp: true }],
      proxy_url: `${origin}/mcp`,
    });
    return beginConsent(server, identifier);
  },
};

const resource: Way = { ...registration, name: 'the metadata of a protected resource', honest: () => onMcp };

const revocation: Way = {
  name: 'a revocation',
  statuses: null,
  async try({ egress, origin }) {
    const config = { authorize_uri: `${origin}/a`, token_uri: `${origin}/t`, revocation_uri: `${origin}/revoke` };
    const provider = oauthProviderOf({ type: 'OAUTH', oauth_config: config }, {});
    const outcome = await revokeTokens({
      provider,
      client: { clientId: 'app', method: 'client_secret_post', secret: new Secret(SECRETS.clientSecret) },
      accessToken: new Secret(SECRETS.accessToken),
      refreshToken: new Secret(SECRETS.refreshToken),
      fetch: egress.pinnedFetch([origin]),
      now: Date.now,
    });
    return { text: JSON.stringify(outcome) };
  },
};

const keys: Way = {
  name: 'the keys of an issuer',
  statuses: null,
  async try({ egress, origin }) {
    const outcome = await verifyIdToken({
      idToken: idTokenOf(origin),
      metadata: { issuer: origin, jwks_uri: `${origin}/jwks` },
      clientId: 'app',
      nonce: null,
      fetch: egress.pinnedFetch([origin]),
      now: Date.now,
    }).catch((error: Error & { kind?: string }) => {
      if (error.kind === undefined) throw error;
      return { ok: false, message: error.message };
    });
    if (outcome.ok) throw new Error('an id_token was trusted');
    return { text: JSON.stringify(outcome) };
  },
};

const request: Way = {
  name: 'the request of an import',
  sends: true,
  statuses: null,
  async try({ server, impatient, shape }) {
    const connection = await openRaw(impatient);
    const headers = [
      'Host: localhost',
      `Authorization: Bearer ${server.token('tools:write')}`,
      'Content-Type: application/json',
    ];
    const { start: _response, ...rest } = shape;
    const message = shape.start === null ? shape : rest;
    await play(connection.socket, message, { start: 'POST /api/v1/tools:import HTTP/1.1', headers });
    const text = await Promise.race([connection.closed, connection.until('"code"').catch(() => connection.closed)]);
    connection.destroy();
    return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 400), text };
  },
};

const LONGEST_DOCUMENT = 64 * 1024;
const nextImport = oneByOne();

const document: Way = {
  name: 'the document of an import',
  sends: true,
  statuses: [200, 400, 413],
  async try({ server, shape, id }) {
    const pieces = typeof shape.body === 'function' ? shape.body('secret') : (shape.body ?? []);
    const bytes = pieces.map((piece) => (typeof piece === 'object' && 'bytes' in piece ? piece.bytes : piece));
    const content = Buffer.concat(bytes.map((piece) => Buffer.from(piece)))
      .toString('latin1')
      .slice(0, LONGEST_DOCUMENT);
    const body = { connector: `hostile-${id}`, files: [{ name: 'api.json', content: content || ' ' }] };
    return nextImport(() => server.call('POST', '/api/v1/tools:import', { body }));
  },
};

/** The five kinds of ways: tool calls, raw calls, MCP, OAuth, imports. */
export const KINDS: readonly (readonly Way[])[] = [
  [rest],
  [raw],
  [mcpCall, mcpCall, mcpCall, mcpList],
  [machineToken, codeExchange, identity, discovery, resource, registration, revocation, keys],
  [request, document],
];

/**
 * Returns a function that runs functions one after the other, for work of which an environment allows only little at
 * the same time.
 */
function oneByOne() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(run: () => Promise<T>): Promise<T> => {
    const result = last.then(run);
    last = result.catch(() => {});
    return result;
  };
}

async function keyedAccount({ server, origin }: Place): Promise<string> {
  const provider = { proxy_enabled: true, proxy_url: origin, auth_patterns: [API_KEY_PATTERN] };
  const { identifier: connector } = await createProvider(server, provider);
  const details = { static_auth: { details: { api_key: SECRETS.apiKey } } };
  const { id } = await createAccount(server, { connector, connectedAccount: { authorization_details: details } });
  return id;
}

async function mcpAccount({ server, origin }: Place): Promise<{ connector: string; accountId: string }> {
  const fields = [{ field_name: 'token', label: 'Token', input_type: 'password', required: true }];
  const { identifier: connector } = await createProvider(server, {
    auth_patterns: [{ type: 'BEARER_TOKEN', is_mcp: true, fields }],
    proxy_url: `${origin}/mcp`,
  });
  const details = { static_auth: { details: { token: SECRETS.token } } };
  const { id } = await createAccount(server, { connector, connectedAccount: { authorization_details: details } });
  return { connector, accountId: id };
}

async function oauthConnector(server: TestServer, oauth_config: object): Promise<string> {
  const { identifier } = await createProvider(server, { auth_patterns: [{ type: 'OAUTH', oauth_config }] });
  const client = { client_id: 'app', client_secret: SECRETS.clientSecret };
  return (await createConnection(server, { connector: identifier, ...client })).key_id;
}

/** Opens a link and submits its form, which makes the server read metadata from the provider. */
async function beginConsent(server: TestServer, connector: string): Promise<Outcome> {
  const page = await submitLink(new TestBrowser(), await makeLink(server, { connector }));
  return { status: page.status, text: page.text };
}

/** Completes a link, as a browser that returns from the provider with a code. */
async function consent({ server, origin }: Place): Promise<Outcome> {
  const connector = await oauthConnector(server, {
    authorize_uri: `${origin}/authorize`,
    token_uri: `${origin}/token`,
    user_info_uri: `${origin}/me`,
  });
  const browser = new TestBrowser();
  const leading = await submitLink(browser, await makeLink(server, { connector }));
  const authorize = new URL(leading.location ?? '');
  const back = new URL(authorize.searchParams.get('redirect_uri') ?? '');
  back.searchParams.set('code', 'code-1');
  back.searchParams.set('state', authorize.searchParams.get('state') ?? '');
  const page = await browser.open(back.href);
  return { status: page.status, text: page.text };
}

function metadataOf(origin: string): object {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
  };
}

function onMcp({ path }: Seen): { status: number; body: unknown } | undefined {
  return path.includes('.well-known') ? undefined : { status: 401, body: {} };
}

const { privateKey } = rsaPair('client');

function idTokenOf(issuer: string): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const at = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, aud: 'app', sub: 'user-1', iat: at, exp: at + 3600 };
  const signed = `${encode({ alg: 'RS256', typ: 'JWT', kid: 'k1' })}.${encode(claims)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
}

/**
 * The server has already sent the head of its response when the third party fails, so it can only close the connection.
 */
function cutOff(error: unknown): Outcome {
  return { text: `cut off: ${error instanceof Error ? error.message : error}` };
}
