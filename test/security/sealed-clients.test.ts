import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { SCOPES } from '../../core/tokens/scopes.ts';
import { createAccount } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { TestBrowser } from '../support/browser.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { tamper } from '../support/database-file.ts';
import { execute } from '../support/execute.ts';
import { makeLink, requestLink, startLinkServer, submitLink } from '../support/links.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { startWorker } from '../support/revocations.ts';
import type { TestServer } from '../support/server.ts';
import { accessToken } from '../support/tokens.ts';
import { json, type ReceivedRequest, startUpstream, type Upstream } from '../support/upstream.ts';

const AS = 'https://as.example';
const EVIL = 'https://evil.example';
const API = 'https://api.acme.example';
const SECRET = 'canary-of-the-operator';
const PEM = String(
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
);
const HOUR = 3_600_000;

/**
 * The secrets that an operator has stored for a connection are sent only to the addresses that they were stored for.
 */
describe('clients of connections whose provider changes', () => {
  let as: Upstream;
  let evil: Upstream;
  let api: Upstream;
  let server: TestServer;
  let clock: TestClock;
  /** The token of a client that may do everything except read credentials. */
  let writer: string;
  /** The metadata of the issuer. */
  let metadata: Record<string, unknown>;

  const endpoints = (origin: string) => ({ authorize_uri: `${origin}/authorize`, token_uri: `${origin}/token` });

  before(async () => {
    const token = { access_token: 'token', token_type: 'Bearer', expires_in: 600 };
    const respond = (request: ReceivedRequest, res: Parameters<typeof json>[0]) =>
      json(res, 200, request.target.includes('/.well-known/') ? metadata : token);
    [as, evil, api] = [await startUpstream(respond), await startUpstream(respond), await startUpstream()];
    const hosts = ['good', 'eve', 'third'].flatMap((name) => [`https://${name}.as.example`]);
    const overrides = [
      ...[AS, `${AS}:8443`, ...hosts.filter((host) => !host.includes('eve'))].map((origin) =>
        as.endpointOverride(origin),
      ),
      ...[EVIL, 'https://eve.as.example'].map((origin) => evil.endpointOverride(origin)),
      api.endpointOverride(API),
    ];
    clock = testClock(Date.now());
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') },
      overrides: { now: clock.now },
    });
    writer = await accessToken(server, { scopes: SCOPES.filter((scope) => scope !== 'credentials:read') });
  });
  beforeEach(async () => {
    metadata = {};
    // Metadata of an issuer is cached for an hour.
    clock.advance(2 * HOUR);
    for (const upstream of [as, evil, api]) upstream.requests.length = 0;
    writer = await accessToken(server, { scopes: SCOPES.filter((scope) => scope !== 'credentials:read') });
  });
  after(async () => {
    await server.stop();
    await Promise.all([as.stop(), evil.stop(), api.stop()]);
  });

  const call = async (method: string, path: string, body?: unknown) =>
    server.call(method, path, { token: writer, ...(body !== undefined && { body }) });
  const change = (identifier: string, body: object) => call('PUT', `/api/v1/custom-providers/${identifier}`, body);
  const connectionOf = async (id: string) => (await call('GET', `/api/v1/connections/${id}`)).body.connection;
  const get = (id: string) => execute(server, id, 'http_get', { path: '/me' }, { token: writer });

  interface Setup {
    type?: string;
    config?: Record<string, unknown>;
    secret?: string | null;
    more?: object;
    pattern?: object;
  }

  async function setUp({ type = 'OAUTH_M2M', config = {}, secret = SECRET, more = {}, pattern = {} }: Setup) {
    const patterns = [{ type, oauth_config: config, ...pattern }];
    const fields = { proxy_enabled: true, proxy_url: `${API}/v1`, auth_patterns: patterns, ...more };
    const { identifier: provider } = await createProvider(server, fields);
    const client = { client_id: 'app', ...(secret !== null && { client_secret: secret }) };
    const { id, key_id: connector } = await createConnection(server, { connector: provider, ...client });
    return { provider, connector, id, patterns };
  }

  const machine = async (connector: string, connectedAccount: Record<string, unknown> = {}) =>
    (await createAccount(server, { connector, connectedAccount })).id;

  /** Whether a request contains the client's secret or key, or proof of possessing it. */
  function shows({ target, headers, body }: ReceivedRequest): boolean {
    const basic = Buffer.from(String(headers['authorization'] ?? '').replace('Basic ', ''), 'base64').toString();
    const text = [target, JSON.stringify(headers), decodeURIComponent(body.replaceAll('+', ' ')), basic].join('\n');
    return [SECRET, 'PRIVATE KEY', 'client_assertion', 'code_verifier'].some((needle) => text.includes(needle));
  }

  let made = 0;
  const leaks = () => evil.requests.filter(shows);

  /**
   * Tries every way in which a client with write access could make the service use the connection's client: an account,
   * a link, their own tokens, and their revocation.
   */
  async function tryEverything(connector: string, apiConfig: object = {}): Promise<void> {
    for (const details of [
      {},
      { oauth_token: { access_token: 'a', refresh_token: 'r' } },
      { oauth_token: { refresh_token: 'r' } },
    ]) {
      const body = {
        connector,
        identifier: `mallory-${++made}`,
        user_id: 'mallory',
        connected_account: { api_config: apiConfig, authorization_details: details },
      };
      const { id } = (await call('POST', '/api/v1/connected_accounts', body)).body.connected_account ?? {};
      if (id === undefined) continue;
      await get(id);
      clock.advance(HOUR);
      writer = await accessToken(server, { scopes: SCOPES.filter((scope) => scope !== 'credentials:read') });
      await get(id);
      await call('POST', '/api/v1/connected_accounts:delete', { id });
    }
    await startWorker(server).run();
    const link = await requestLink(server, { connector, user_id: 'mallory' });
    if (link.status === 200) await submitLink(new TestBrowser(), link.body.link, apiConfig as Record<string, string>);
  }

  it('H2: the secret is sent to the token endpoint that it was stored for (control)', async () => {
    const { connector } = await setUp({ config: { token_uri: `${AS}/token` } });
    expect((await get(await machine(connector))).status).to.equal(200);
    expect(as.requests.filter(shows)).to.have.length(1);
  });

  const M2M = { token_uri: `${AS}/oauth/token`, client_auth_method: 'client_secret_post' };
  const KEY = { token_uri: `${AS}/oauth/token`, client_auth_method: 'private_key_jwt' };
  const moves: [what: string, setup: Setup, changed: { config?: object; more?: object }][] = [
    ['token_uri', { config: M2M }, { config: { ...M2M, token_uri: `${EVIL}/token` } }],
    ['the port of token_uri', { config: M2M }, { config: { ...M2M, token_uri: `${AS}:8443/oauth/token` } }],
    ['token_uri to another path of its host', { config: M2M }, { config: { ...M2M, token_uri: `${AS}/evil/token` } }],
    ['token_uri by dot segments', { config: M2M }, { config: { ...M2M, token_uri: `${AS}/oauth/%2e%2e/evil/token` } }],
    [
      'token_uri by segments that some servers take for dot segments',
      { config: M2M },
      { config: { ...M2M, token_uri: `${AS}/oauth/..;/evil/token` } },
    ],
    [
      'proxy_url by segments that some servers decode to dot segments',
      { config: M2M },
      { more: { proxy_url: `${API}/v1/%252e%252e/evil` } },
    ],
    [
      'token_uri to a value of the account',
      { config: M2M },
      { config: { ...M2M, token_uri: 'https://{{x}}.as.example/oauth/token' } },
    ],
    ['revocation_uri', { config: M2M }, { config: { ...M2M, revocation_uri: `${EVIL}/revoke` } }],
    [
      'user_info_uri',
      { type: 'OAUTH', config: endpoints(AS) },
      { config: { ...endpoints(AS), user_info_uri: `${EVIL}/me` } },
    ],
    [
      'authorize_uri',
      { type: 'OAUTH', config: endpoints(AS) },
      { config: { ...endpoints(AS), authorize_uri: `${EVIL}/authorize` } },
    ],
    [
      'token_uri beside authorize_uri',
      { type: 'OAUTH', config: endpoints(AS) },
      { config: { ...endpoints(AS), token_uri: `${EVIL}/token` } },
    ],
    ['issuer', { config: { ...M2M, issuer: AS } }, { config: { ...M2M, issuer: EVIL } }],
    [
      'issuer in the place of token_uri',
      { config: M2M },
      { config: { client_auth_method: 'client_secret_post', issuer: EVIL } },
    ],
    [
      'the audience of assertions',
      { config: { ...KEY, issuer: `${AS}/a` }, secret: PEM },
      { config: { ...KEY, issuer: `${AS}/b` } },
    ],
    ['private_key_jwt to client_secret_post', { config: KEY, secret: PEM }, { config: M2M }],
    ['private_key_jwt to client_secret_basic', { config: KEY, secret: PEM }, { config: { token_uri: KEY.token_uri } }],
    ['private_key_jwt to none', { config: KEY, secret: PEM }, { config: { ...KEY, client_auth_method: 'none' } }],
    ['client_secret_basic to client_secret_post', { config: { token_uri: M2M.token_uri } }, { config: M2M }],
    ['proxy_url', { config: M2M }, { more: { proxy_url: `${EVIL}/v1` } }],
    [
      'the token endpoint of a public client',
      { type: 'OAUTH', config: { ...endpoints(AS), client_auth_method: 'none' }, secret: null },
      { config: { ...endpoints(AS), token_uri: `${EVIL}/token`, client_auth_method: 'none' } },
    ],
    [
      'request_token_uri of OAuth 1.0a',
      { type: 'BOARD_OAUTH1', config: { ...endpoints(AS), request_token_uri: `${AS}/request` } },
      { config: { ...endpoints(AS), request_token_uri: `${EVIL}/request` } },
    ],
    [
      'the signature of OAuth 1.0a to PLAINTEXT',
      { type: 'BOARD_OAUTH1', config: { ...endpoints(AS), request_token_uri: `${AS}/request` } },
      { config: { ...endpoints(AS), request_token_uri: `${AS}/request`, signature_method: 'PLAINTEXT' } },
    ],
  ];
  for (const [what, setup, { config, more = {} }] of moves) {
    it(`H2: a client is disabled when its provider changes ${what}`, async () => {
      const { provider, connector, id } = await setUp(setup);
      const type = setup.type ?? 'OAUTH_M2M';
      const account_fields = [{ field_name: 'x', label: 'X', input_type: 'text' }];
      const patterns = { auth_patterns: [{ type, oauth_config: config, account_fields }] };
      const changed = await change(provider, { ...(config && patterns), ...more });
      expect(changed.status, changed.text).to.equal(200);
      const connection = await connectionOf(id);
      expect(connection).to.deep.include({ status: 'DRAFT', has_client_secret: false, client_id: '' });
      expect(connection.missing_settings).to.include('client_id');
      const events = await auditOf(server, id);
      expect(events[0]).to.include({ action: 'connection.client_withdrawn' });
      expect(events[0]?.details).to.include({ client_id: 'app' });
      as.requests.length = 0;
      await tryEverything(connector, { x: 'eve' });
      expect([...evil.requests, ...as.requests].filter(shows)).to.deep.equal([]);
    });

    it(`H2: a client is not used when ${what} was changed in the database`, async () => {
      const { provider, connector } = await setUp(setup);
      const { databaseFile } = server.parts.config;
      const set = (path: string, value: string) =>
        tamper(
          databaseFile,
          `update custom_providers set definition = json_set(definition, ?, json(?)) where identifier = ?`,
          path,
          value,
          provider,
        );
      if (config) set('$.auth_patterns[0].oauth_config', JSON.stringify(config));
      for (const [name, value] of Object.entries(more)) set(`$.${name}`, JSON.stringify(value));
      await tryEverything(connector, { x: 'eve' });
      expect([...evil.requests, ...as.requests].filter(shows)).to.deep.equal([]);
    });
  }

  const typedMoves: [what: string, before: object, after: object][] = [
    ['the method', KEY, M2M],
    ['the directory of token_uri', M2M, { ...M2M, token_uri: `${AS}/evil/token` }],
    ['the host of token_uri', M2M, { ...M2M, token_uri: `${EVIL}/token` }],
    ['the audience', { ...KEY, issuer: `${AS}/a` }, { ...KEY, issuer: `${AS}/b` }],
  ];
  for (const [what, before, after] of typedMoves) {
    it(`H2: an account's own client is not used after its provider has changed ${what}`, async () => {
      const fields = ['client_id', 'client_secret'].map((field_name) => ({
        field_name,
        label: 'L',
        input_type: 'textarea',
      }));
      for (const rewrites of [false, true]) {
        const { provider, connector } = await setUp({ config: { ...before }, pattern: { fields }, secret: null });
        const isKey = 'client_auth_method' in before && before.client_auth_method === 'private_key_jwt';
        const details = { client_id: 'typed', client_secret: isKey ? PEM : SECRET };
        const id = await machine(connector, { authorization_details: { static_auth: { details } } });
        expect((await get(id)).status).to.equal(200);
        expect(as.requests.filter(shows).length).to.equal(1);
        as.requests.length = 0;
        if (rewrites) {
          const statement = `update custom_providers set definition = json_set(definition, '$.auth_patterns[0].oauth_config', json(?)) where identifier = ?`;
          tamper(server.parts.config.databaseFile, statement, JSON.stringify(after), provider);
        } else {
          const body = { auth_patterns: [{ type: 'OAUTH_M2M', fields, oauth_config: after }] };
          expect((await change(provider, body)).status).to.equal(200);
        }
        clock.advance(HOUR);
        writer = await accessToken(server, { scopes: SCOPES.filter((scope) => scope !== 'credentials:read') });
        expect((await get(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
        await call('POST', '/api/v1/connected_accounts:delete', { id });
        await startWorker(server).run();
        expect([...evil.requests, ...as.requests].filter(shows)).to.deep.equal([]);
      }
    });
  }

  it('H2: a client is disabled when an import moves its provider', async () => {
    const { provider, connector, id } = await setUp({ config: M2M });
    const document = {
      openapi: '3.0.3',
      info: { title: 'T', version: '1' },
      paths: { '/me': { get: { operationId: 'me', responses: {} } } },
    };
    const files = [{ name: 'api.json', content: JSON.stringify(document) }];
    const body = { connector: provider, files, base_url: `${EVIL}/v1`, apply: true };
    const imported = await call('POST', '/api/v1/tools:import', body);
    expect(imported.status, imported.text).to.equal(200);
    expect(await connectionOf(id)).to.include({ status: 'DRAFT', has_client_secret: false });
    await tryEverything(connector);
    expect([...evil.requests, ...as.requests].filter(shows)).to.deep.equal([]);
  });

  it('H2: a deleted provider leaves no client for another one of the same name', async () => {
    const name = { display_name: 'Twice' };
    const { provider, id } = await setUp({ config: M2M, more: name });
    expect((await server.call('DELETE', `/api/v1/custom-providers/${provider}`)).status).to.equal(200);
    const secret = { client_secret: SECRET };
    const refused = await server.call('PUT', `/api/v1/connections/${id}`, { body: secret });
    expect(refused.body.errors[0].field).to.equal('client_secret');
    const again = await createProvider(server, { ...name, auth_patterns: [{ type: 'OAUTH_M2M', oauth_config: M2M }] });
    expect(again.identifier).not.to.equal(provider);
    expect((await server.call('PUT', `/api/v1/connections/${id}`, { body: { enabled: true } })).status).to.equal(200);
    expect(await connectionOf(id)).to.include({ status: 'DRAFT' });
  });

  it('H2: a client that is set again is used at the new addresses', async () => {
    const { provider, connector, id } = await setUp({ config: M2M });
    await change(provider, {
      auth_patterns: [{ type: 'OAUTH_M2M', oauth_config: { ...M2M, token_uri: `${AS}/new/token` } }],
    });
    const body = { client_id: 'app', client_secret: SECRET };
    const { connection } = (await server.call('PUT', `/api/v1/connections/${id}`, { body })).body;
    expect(connection).to.include({ status: 'COMPLETED', has_client_secret: true });
    expect((await get(await machine(connector))).status).to.equal(200);
    expect(as.requests.filter(shows).map(({ target }) => target)).to.deep.equal(['/new/token']);
  });

  it('H2: a client stays when the change concerns neither its addresses nor its method', async () => {
    const config = { ...M2M, token_uri: `${AS}/oauth/v1/token` };
    const { provider, connector, id } = await setUp({ config });
    const scopes = [{ scope: 'read', display_name: 'Read' }];
    const kept = {
      ...config,
      available_scopes: scopes,
      extra_token_params: { audience: 'x' },
      token_uri: `${AS}/oauth/v2/token`,
      revocation_uri: `${AS}/oauth/v2/revoke`,
    };
    const body = {
      auth_patterns: [{ type: 'OAUTH_M2M', display_name: 'M', oauth_config: kept }],
      proxy_url: `${API}/v2`,
    };
    expect((await change(provider, { ...body, display_name: 'Other', description: 'More' })).status).to.equal(200);
    expect(await connectionOf(id)).to.include({ status: 'COMPLETED', has_client_secret: true });
    expect((await get(await machine(connector))).status).to.equal(200);
    expect(as.requests.filter(shows).map(({ target }) => target)).to.deep.equal(['/oauth/v2/token']);
  });

  describe('H2: an issuer', () => {
    const of = (origin: string) => ({
      issuer: AS,
      token_endpoint: `${origin}/token`,
      authorization_endpoint: `${origin}/authorize`,
    });

    it('whose metadata move the token endpoint to another host is not followed, by new accounts and old ones', async () => {
      metadata = of(AS);
      const { connector, id } = await setUp({ config: { issuer: AS } });
      const account = await machine(connector);
      expect((await get(account)).status).to.equal(200);
      expect(as.requests.filter(shows)).to.have.length(1);
      metadata = of(EVIL);
      clock.advance(2 * HOUR);
      writer = await accessToken(server);
      expect((await get(account)).status).not.to.equal(200);
      await tryEverything(connector);
      expect(leaks()).to.deep.equal([]);
      expect(await connectionOf(id)).to.include({ has_client_secret: true });
      const body = { allowed_addresses: [EVIL], client_secret: SECRET };
      expect((await server.call('PUT', `/api/v1/connections/${id}`, { body })).status).to.equal(200);
      expect((await get(await machine(connector))).status).to.equal(200);
      expect(leaks()).to.have.length(1);
    });

    it('is followed to another host if its first metadata named that host', async () => {
      metadata = of(EVIL);
      const { connector } = await setUp({ config: { issuer: AS } });
      for (let n = 0; n < 2; n++) expect((await get(await machine(connector))).status).to.equal(200);
      expect(leaks()).to.have.length(2);
    });

    it('does not move the endpoint of pushed authorization requests', async () => {
      const pushed = (origin: string) => ({
        ...of(AS),
        code_challenge_methods_supported: ['S256'],
        require_pushed_authorization_requests: true,
        pushed_authorization_request_endpoint: `${origin}/par`,
      });
      metadata = pushed(AS);
      const { connector } = await setUp({ type: 'OAUTH', config: { issuer: AS, ...endpoints(AS) } });
      await submitLink(new TestBrowser(), await makeLink(server, { connector }));
      expect(as.requests.filter(shows).map(({ target }) => target)).to.deep.equal(['/par']);
      metadata = pushed(EVIL);
      clock.advance(2 * HOUR);
      const page = await submitLink(new TestBrowser(), await makeLink(server, { connector }));
      expect(page.status).to.equal(502);
      expect(leaks()).to.deep.equal([]);
    });

    it("does not move the endpoint of an account's own client", async () => {
      metadata = of(AS);
      const fields = ['client_id', 'client_secret'].map((field_name) => ({
        field_name,
        label: 'L',
        input_type: 'password',
      }));
      const { connector } = await setUp({ config: { issuer: AS }, pattern: { fields }, secret: null });
      const details = { client_id: 'typed', client_secret: SECRET };
      const account = await machine(connector, { authorization_details: { static_auth: { details } } });
      expect((await get(account)).status).to.equal(200);
      metadata = of(EVIL);
      clock.advance(2 * HOUR);
      writer = await accessToken(server);
      expect((await get(account)).status).not.to.equal(200);
      expect(leaks()).to.deep.equal([]);
    });
  });

  describe('H2: a token endpoint at a host that an account names', () => {
    const FIELD = { field_name: 'tenant', label: 'Tenant', input_type: 'text', required: true, is_path_param: true };
    const setup = (type: string): Setup => ({
      type,
      config: { ...endpoints('https://{{tenant}}.as.example'), revocation_uri: 'https://{{tenant}}.as.example/revoke' },
      pattern: { account_fields: [FIELD] },
    });

    for (const type of ['OAUTH_M2M', 'OAUTH']) {
      it(`is the one that the client was first used at, and no other (${type})`, async () => {
        const { connector, id } = await setUp(setup(type));
        const given = type === 'OAUTH' ? { authorization_details: { oauth_token: { refresh_token: 'r' } } } : {};
        const good = await machine(connector, { api_config: { tenant: 'good' }, ...given });
        expect((await get(good)).status).to.equal(200);
        expect(as.requests.filter(shows)).to.have.length(1);
        await tryEverything(connector, { tenant: 'eve' });
        expect(leaks()).to.deep.equal([]);
        const body = {
          allowed_addresses: ['https://good.as.example', 'https://third.as.example/'],
          client_secret: SECRET,
        };
        await server.call('PUT', `/api/v1/connections/${id}`, { body });
        await tryEverything(connector, { tenant: 'eve' });
        expect(leaks()).to.deep.equal([]);
        expect((await get(await machine(connector, { api_config: { tenant: 'third' }, ...given }))).status).to.equal(
          200,
        );
      });
    }

    it('is not allowed for a stored client by a request without the client', async () => {
      const { connector, id } = await setUp(setup('OAUTH_M2M'));
      expect((await get(await machine(connector, { api_config: { tenant: 'good' } }))).status).to.equal(200);
      const put = (body: object) => server.call('PUT', `/api/v1/connections/${id}`, { body });
      const all = ['https://*.as.example'];
      for (const body of [{ allowed_addresses: all }, { allowed_addresses: all, client_id: 'app' }]) {
        const refused = await put(body);
        expect(refused.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(refused.body.errors).to.deep.equal([
          {
            field: 'client_secret',
            message: 'must be sent again, because allowed_addresses allows more than before',
          },
        ]);
      }
      await tryEverything(connector, { tenant: 'eve' });
      expect(leaks()).to.deep.equal([]);
      const list = ['https://good.as.example', 'https://eve.as.example'];
      expect((await put({ allowed_addresses: list, client_secret: SECRET })).status).to.equal(200);
      // Removing addresses does not require the client's secret, and ends the use of the client at these addresses.
      expect((await put({ allowed_addresses: list.slice(0, 1) })).status).to.equal(200);
      await tryEverything(connector, { tenant: 'eve' });
      expect(leaks()).to.deep.equal([]);
      expect((await get(await machine(connector, { api_config: { tenant: 'good' } }))).status).to.equal(200);
      expect((await put({ allowed_addresses: null })).status).to.equal(400);
      const statement = `update connections set allowed_addresses = ? where id = ?`;
      expect(tamper(server.parts.config.databaseFile, statement, JSON.stringify(all), id)).to.equal(1);
      await tryEverything(connector, { tenant: 'eve' });
      expect(leaks()).to.deep.equal([]);
    });

    it('is not changed by an update of a working account', async () => {
      const { connector } = await setUp(setup('OAUTH_M2M'));
      const id = await machine(connector, { api_config: { tenant: 'good' } });
      expect((await get(id)).status).to.equal(200);
      const moved = await call('PUT', '/api/v1/connected_accounts', {
        id,
        connected_account: { api_config: { tenant: 'eve' } },
      });
      expect(moved.status).to.equal(200);
      await get(id);
      expect(leaks()).to.deep.equal([]);
    });
  });

  it("H2: a connection's client is used for accounts at no other token endpoint", async () => {
    const config = { token_uri: `${AS}/sts`, identity_audience: 'sts.amazonaws.com', signing_service: 'execute-api' };
    const more = { proxy_enabled: true, proxy_url: API };
    const { identifier } = await createProvider(server, {
      auth_patterns: [{ type: 'TRUSTED_IDP', oauth_config: config }],
      ...more,
    });
    const role = { role_arn: 'arn:aws:iam::123456789012:role/x', region: 'eu-west-1' };
    const account = () =>
      machine(identifier, { api_config: role, authorization_details: { trusted_idp: { db_user: 'x' } } });
    await get(await account());
    expect(as.requests.map(({ target }) => target)).to.deep.equal(['/sts']);
    const moved = { auth_patterns: [{ type: 'TRUSTED_IDP', oauth_config: { ...config, token_uri: `${EVIL}/sts` } }] };
    expect((await change(identifier, moved)).status).to.equal(200);
    await get(await account());
    expect(evil.requests).to.deep.equal([]);
    const list = (await call('GET', '/api/v1/connections')).body.connections;
    const { id } = list.find(({ key_id }: { key_id: string }) => key_id === identifier);
    expect(await connectionOf(id)).to.deep.include({ status: 'DRAFT', missing_settings: ['client_id'] });
    await server.call('PUT', `/api/v1/connections/${id}`, { body: { client_id: 'sts.amazonaws.com' } });
    await get(await account());
    expect(evil.requests.map(({ target }) => target)).to.deep.equal(['/sts']);
  });
});
