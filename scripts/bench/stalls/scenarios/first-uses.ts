import type { Lab, Party, Scenario } from '../scenario.ts';

/**
 * Measures the first request of a kind after a start.
 *
 * @param prepare whether an account is created first, which already runs other code
 */
function first(
  id: string,
  name: string,
  play: (lab: Lab, party: Party) => Promise<number>,
  { prepare = false } = {},
): Scenario {
  let party: Party = { connector: '', accountId: '', connectionId: '', key: '' };
  return {
    id,
    name,
    async prepare(lab) {
      lab.on('/small', (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'));
      if (prepare) party = await lab.party();
    },
    play: async (lab) => String(await play(lab, party)),
  };
}

const DOCUMENT = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'Acme', version: '1' },
  servers: [{ url: 'https://api.acme.example' }],
  paths: { '/things': { get: { operationId: 'listThings', responses: {} } } },
});

/** Measures the first call to the MCP server of a connection. */
function firstMcp(name: string, method: string, connector?: string): Scenario {
  let party: Party;
  let token: string;
  return {
    id: 'F14',
    name,
    async prepare(lab) {
      lab.on('/small', (_req, res) => res.writeHead(200, { 'content-type': 'application/json' }).end('{"a":1}'));
      party = await lab.party();
      if (connector !== undefined) party.connectionId = await connectionOf(lab, connector);
      const body = { server_id: party.connectionId, user_id: 'ada', identifier: 'ada' };
      token = (await lab.call('POST', '/api/v1/mcp/session_tokens', { body })).body.token;
    },
    async play(lab) {
      const params = method === 'tools/call' ? { name: 'http_get', arguments: { path: '/small' } } : {};
      const reply = await lab.call('POST', `/mcp/${party.connectionId}`, {
        token,
        headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
        body: { jsonrpc: '2.0', id: 1, method, params },
      });
      return `${reply.status} ${reply.text.slice(0, 60).replaceAll('\n', ' ')}`;
    },
  };
}

async function connectionOf(lab: Lab, connector: string): Promise<string> {
  const details = { static_auth: { details: { token: 'ghp_0123456789abcdef' } } };
  const body = { connector, user_id: 'ada', identifier: 'ada', connected_account: { authorization_details: details } };
  const account = await lab.call('POST', '/api/v1/connected_accounts', { body });
  return account.body.connected_account.connection_id;
}

export const FIRST_USES: readonly Scenario[] = [
  {
    id: 'own',
    name: 'what the server does by itself in the seconds after its start',
    async play() {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      return '';
    },
  },
  first('F14', 'first list of tools', (lab) => lab.status('GET', '/api/v1/tools')),
  first('F14', 'first list of the tools of a connector', (lab) =>
    lab.status('GET', '/api/v1/tools?connector=github&detail=full&page_size=100'),
  ),
  first('F14', 'first search of tools', (lab) => lab.status('GET', '/api/v1/tools:search?query=create%20an%20issue')),
  first('F14', 'first list of the tools of a user', (lab) => lab.status('GET', '/api/v1/tools:scoped?user_id=ada')),
  firstMcp('first MCP request', 'tools/list'),
  firstMcp('first MCP list of a connector with 185 tools', 'tools/list', 'github'),
  firstMcp('first MCP call', 'tools/call'),
  first('L7', 'first import', (lab) =>
    lab.status('POST', '/api/v1/tools:import', {
      body: { connector: 'acme', files: [{ name: 'openapi.json', content: DOCUMENT }], apply: true },
    }),
  ),
  first('L7', 'first tool of an environment', async (lab) => {
    const body = {
      connector: 'github',
      name: 'github_get_own_thing',
      title: 'Get a thing',
      description: 'Reads one thing by its number, with its name and colour. Changes nothing.',
      tags: ['things'],
      hints: { read_only: true, destructive: false, idempotent: true, open_world: false },
      scopes: [],
      input_schema: { type: 'object', additionalProperties: false, properties: {} },
      output_schema: { type: 'object' },
      examples: [{ input: {}, note: 'The first thing.' }],
      request: { method: 'GET', path: '/things' },
    };
    return lab.status('POST', '/api/v1/tools', { body });
  }),
  first('own', 'first provider, refused with every error', (lab) =>
    lab.status('POST', '/api/v1/custom-providers', { body: { auth_patterns: [{ type: 'API_KEY', fields: [{}] }] } }),
  ),
  first('own', 'first provider and account', async (lab) => Number((await lab.party()).key !== '')),
  first(
    'own',
    'first execution of a tool',
    async (lab, party) => (await lab.execute(party, 'http_get', { path: '/small' })).status,
    {
      prepare: true,
    },
  ),
  first(
    'own',
    'first raw call',
    (lab, { accountId }) => lab.status('GET', '/api/v1/proxy/small', { headers: { 'valetkey-account-id': accountId } }),
    { prepare: true },
  ),
  first(
    'own',
    'first link and its page',
    async (lab, { connector }) => {
      const verify = 'https://app.example/verify';
      await lab.call('PUT', '/api/v1/environment', { body: { user_verify_urls: [verify] } });
      const body = { connector, user_id: 'eve', identifier: 'eve', user_verify_url: verify };
      const link = await lab.call('POST', '/api/v1/connected_accounts/magic_link', { body });
      if (!link.body?.link) throw new Error(`no link: ${link.text.slice(0, 500)}`);
      return lab.status('GET', new URL(link.body.link).pathname, { token: null });
    },
    { prepare: true },
  ),
  first('own', 'first view of the reference', (lab) => lab.status('GET', '/docs', { token: null })),
  first('own', 'first fetch of the contract', (lab) => lab.status('GET', '/openapi.json', { token: null })),
  first('own', 'first list of providers', (lab) => lab.status('GET', '/api/v1/providers')),
  first('own', 'first page of metrics and of readiness', (lab) => lab.status('GET', '/readyz', { token: null })),
];
