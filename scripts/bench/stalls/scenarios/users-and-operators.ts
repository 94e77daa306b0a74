import { randomBytes } from 'node:crypto';
import { request } from 'undici';
import { THREADS } from '../../../../core/budgets.ts';
import { manyKeys } from '../hostile-json.ts';
import type { Lab, Scenario } from '../scenario.ts';

const MIB = 1024 * 1024;
const THREAD_MIB = THREADS.heapBytes / MIB;
const VERIFY = 'https://app.example/verify';
const ADA = { user_id: 'ada', identifier: 'ada' };
const ISSUER = 'https://h0.hostile.example';
const DISCOVERY = '/.well-known/';

/** Sends a request as a browser does, without a token and without following redirects. */
async function browse(
  { server }: Lab,
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', body }: { method?: 'GET' | 'POST'; body?: string } = {},
) {
  const response = await request(`http://localhost:${server.port}${path}`, { method, headers, body: body ?? null });
  const text = await response.body.text();
  const cookies = [response.headers['set-cookie'] ?? []].flat().map((cookie) => cookie.split(';')[0]);
  return { status: response.statusCode, text, cookie: cookies.join('; '), location: response.headers['location'] };
}

/** Creates a portal session of a user with 100 accounts, and opens it. @returns its cookie */
async function portalOf(lab: Lab): Promise<string> {
  await lab.call('PUT', '/api/v1/environment', { body: { user_verify_urls: [VERIFY], application_name: 'Acme' } });
  const { connector } = await lab.party();
  const authorization_details = { static_auth: { details: { api_key: 'key-of-ada-0123456789' } } };
  for (let at = 0; at < 100; at++) {
    const body = { ...ADA, connector, identifier: `ada-${at}`, connected_account: { authorization_details } };
    await lab.call('POST', '/api/v1/connected_accounts', { body });
  }
  const { body } = await lab.call('POST', '/api/v1/portal_sessions', { body: { ...ADA, user_verify_url: VERIFY } });
  return (await browse(lab, new URL(body.url).pathname)).cookie;
}

/** Measures the login at a provider of this environment whose documents are hostile. */
function loginProvider(name: string, document: (path: string) => string): Scenario {
  return {
    id: 'own',
    name,
    grantedMiB: THREAD_MIB,
    async prepare(lab) {
      lab.on('/', (_req, res) => res.writeHead(404).end());
      await lab.status('PUT', '/api/v1/mcp/login_provider', { body: { type: 'JWT', issuer: ISSUER } });
    },
    async play(lab) {
      lab.on('/', (req, res) =>
        res.writeHead(200, { 'content-type': 'application/json' }).end(document(req.url ?? '')),
      );
      const set = await lab.call('PUT', '/api/v1/mcp/login_provider', { body: { type: 'JWT', issuer: ISSUER } });
      const { connectionId } = await lab.party({ host: 'h1.hostile.example' });
      const claims = Buffer.from(JSON.stringify({ iss: ISSUER, aud: 'x', sub: 'a', exp: 4e9, iat: 1 }));
      const token = `eyJhbGciOiJSUzI1NiIsImtpZCI6ImsifQ.${claims.toString('base64url')}.${'A'.repeat(342)}`;
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const headers = { accept: 'application/json, text/event-stream' };
      const mcp = await lab.call('POST', `/mcp/${connectionId}`, { token, headers, body });
      return `${set.status} ${set.body?.code ?? ''} ${mcp.status}`;
    },
  };
}

const keyset = (count: number) =>
  JSON.stringify({
    keys: Array.from({ length: count }, (_, at) => ({ kty: 'RSA', kid: `k${at}`, n: 'AQAB', e: 'AQAB' })),
  });
const metadata = JSON.stringify({
  issuer: ISSUER,
  jwks_uri: `${ISSUER}/keys`,
  authorization_endpoint: `${ISSUER}/a`,
  token_endpoint: `${ISSUER}/t`,
});
const keysOrMetadata = (keys: string) => (path: string) => (path.startsWith(DISCOVERY) ? metadata : keys);

/** Measures the check of credentials at a site that responds with this body. */
function credentialCheck(name: string, body: () => Buffer, headers: Record<string, string> = {}): Scenario {
  let made = 0;
  const account = (lab: Lab) => {
    const authorization_details = { static_auth: { details: { username: 'ada', password: 'abcd efgh ijkl mnop' } } };
    const connected_account = { authorization_details, api_config: { base_url: `${ISSUER}/wp-json/wp/v2` } };
    const owner = { user_id: 'ada', identifier: `ada-${++made}` };
    return lab.call('POST', '/api/v1/connected_accounts', {
      body: { connector: 'wordpress', ...owner, connected_account, verify_credentials: true },
    });
  };
  return {
    id: 'own',
    name,
    grantedMiB: THREAD_MIB,
    async prepare(lab) {
      lab.on('/wp-json', (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"id":1}'));
      const first = await account(lab);
      if (first.status !== 201) throw new Error(first.text.slice(0, 300));
    },
    async play(lab) {
      const bytes = body();
      lab.on('/wp-json', (_req, res) =>
        res.writeHead(200, { 'content-type': 'application/json', ...headers }).end(bytes),
      );
      const { status, body: reply } = await account(lab);
      return `${status} ${reply?.code ?? ''}`;
    },
  };
}

const svg = (bytes: number) => {
  const head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">';
  const text = `${head}${'<g/>'.repeat((bytes - head.length - 6) / 4)}</svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(text).toString('base64')}`;
};

/** Measures setting a logo, and the page that shows it. */
function logo(name: string, make: () => string): Scenario {
  return {
    id: 'own',
    name,
    async prepare(lab) {
      await lab.status('PUT', '/api/v1/environment', { body: { logo: svg(100) } });
      await browse(lab, '/portal');
    },
    async play(lab) {
      const { status, body } = await lab.call('PUT', '/api/v1/environment', { body: { logo: make() } });
      const url: string | undefined = body?.environment?.brand?.logo_url ?? body?.environment?.logo_url;
      const shown = await Promise.all(
        Array.from({ length: 50 }, () => browse(lab, url ? new URL(url).pathname : '/portal')),
      );
      return `${status} ${body?.code ?? ''} ${shown[0]?.status} ${shown[0]?.text.length}`;
    },
  };
}

let cookie = '';

export const USERS_AND_OPERATORS: readonly Scenario[] = [
  {
    id: 'own',
    name: 'first view of the portal',
    async play(lab) {
      return String((await browse(lab, '/portal')).status);
    },
  },
  {
    id: 'own',
    name: '30 views of a portal with 100 accounts',
    async prepare(lab) {
      cookie = await portalOf(lab);
      await browse(lab, '/portal', { cookie });
    },
    async play(lab) {
      const views = await Promise.all(Array.from({ length: 30 }, () => browse(lab, '/portal', { cookie })));
      return `${views[0]?.status} with ${views[0]?.text.length} characters`;
    },
  },
  {
    id: 'own',
    name: '10 forms of the portal with many fields and no session',
    prepare: async (lab) => void (await browse(lab, '/portal')),
    async play(lab) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const body = 'a=%41&'.repeat(40_000);
      const sent = Array.from({ length: 10 }, () =>
        browse(lab, '/portal/sign_out', headers, { method: 'POST', body }).catch(() => ({ status: 0 })),
      );
      return [...new Set((await Promise.all(sent)).map(({ status }) => status))].join();
    },
  },
  {
    id: 'own',
    name: '50 pages of a link with 16 KB of languages',
    prepare: async (lab) => void (await browse(lab, '/connect/nothing')),
    async play(lab) {
      const headers = { 'accept-language': 'de-x-y;q=0.5,'.repeat(1_100) };
      const views = await Promise.all(Array.from({ length: 50 }, () => browse(lab, '/connect/nothing', headers)));
      return [...new Set(views.map(({ status }) => status))].join();
    },
  },
  {
    id: 'own',
    name: 'first view of the console',
    async play(lab) {
      return String((await browse(lab, '/console')).status);
    },
  },
  {
    id: 'own',
    name: '100 requests for a console session with bodies of 250 KB',
    async play(lab) {
      const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'valetkey-console': '1' };
      const body = JSON.stringify({ token: 'x'.repeat(250_000) });
      const sent = Array.from({ length: 100 }, () =>
        browse(lab, '/console/session', headers, { method: 'POST', body }).catch(() => ({ status: 0 })),
      );
      return [...new Set((await Promise.all(sent)).map(({ status }) => status))].join();
    },
  },
  {
    id: 'own',
    name: '200 tokens of a console session',
    async prepare(lab) {
      const { body } = await lab.call('POST', '/api/v1/operator_sessions', {
        body: { operator: 'ada', role: 'OWNER' },
      });
      const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'valetkey-console': '1' };
      const token = new URL(body.login_url).hash.slice(1);
      ({ cookie } = await browse(lab, '/console/session', headers, {
        method: 'POST',
        body: JSON.stringify({ token }),
      }));
    },
    async play(lab) {
      const headers = { cookie, 'sec-fetch-site': 'same-origin', 'valetkey-console': '1' };
      const sent = Array.from({ length: 200 }, () =>
        browse(lab, '/console/session:token', headers, { method: 'POST' }),
      );
      return [...new Set((await Promise.all(sent)).map(({ status }) => status))].join();
    },
  },
  loginProvider('login provider with 10,000 keys', keysOrMetadata(keyset(10_000))),
  loginProvider(
    'login provider whose keys are 250,000 empty lists',
    keysOrMetadata(`{"keys":[${Array(250_000).fill('[]')}]}`),
  ),
  loginProvider('login provider with metadata of 1 MiB of members', () => manyKeys(0.99)),
  credentialCheck('check of credentials with 10 MiB of JSON members', () => Buffer.from(manyKeys(9.9))),
  credentialCheck('check of credentials with 10 MiB of text', () => randomBytes(10 * MIB)),
  logo('logo of 64 KiB of nested elements', () => svg(65_000)),
  logo('logo of 64 KiB of attributes that are refused', () => {
    const text = `<svg xmlns="http://www.w3.org/2000/svg" ${Array.from({ length: 9_000 }, (_, at) => `a${at}=""`).join(' ')}/>`;
    return `data:image/svg+xml;base64,${Buffer.from(text.slice(0, 65_000)).toString('base64')}`;
  }),
  logo('logo of 64 KiB of unclosed elements', () => {
    return `data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${'<g>'.repeat(21_000)}`).toString('base64')}`;
  }),
];
