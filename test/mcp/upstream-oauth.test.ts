import { expect } from 'chai';
import type { LinkContext } from '../../core/accounts/links/link-context.ts';
import { findProvider } from '../../core/connections/providers.ts';
import type { ProviderDefinition } from '../../core/connectors/provider.ts';
import type { ConnectionRow } from '../../db/store.ts';
import { auditOf } from '../support/audit.ts';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { TestBrowser } from '../support/browser.ts';
import type { TestClock } from '../support/clock.ts';
import {
  FILES_ORIGIN as ORIGIN,
  OAUTH_MCP_PATTERN as PATTERN,
  FILES_RESOURCE as RESOURCE,
} from '../support/files-server.ts';
import { type FilesWorld, startFilesWorld } from '../support/files-world.ts';
import { accountOf, allowVerifyUrls, browserFor, makeLink, submitLink, VERIFY_URL, walk } from '../support/links.ts';
import { syncTools } from '../support/mcp-provider.ts';
import type { ModernServer } from '../support/mcp-upstream.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';
import { json, startUpstream } from '../support/upstream.ts';

describe('MCP servers with OAuth', () => {
  let as: AuthorizationServer;
  let upstream: ModernServer;
  let server: TestServer;
  let clock: TestClock;
  let provider: string;

  let world: FilesWorld;

  before(async () => {
    world = await startFilesWorld();
    ({ server, upstream, clock } = world);
    [as] = world.servers as [AuthorizationServer];
    provider = await world.provider();
  });
  after(() => world.stop());

  const run = (id: string, name = 'files_list') =>
    server.call('POST', '/api/v1/execute_tool', {
      body: { tool_name: name, tool_input: {}, connected_account_id: id },
    });

  it('are discovered, registered with and consented to, and their tools run', async () => {
    const id = await world.connect(provider, 'ada');
    const synced = await syncTools(server, provider);
    expect(synced.body.added, synced.text).to.deep.equal(['files_list']);
    const answer = await run(id);
    expect(answer.body.data.content[0].text).to.equal('a.txt');
  });

  it('receive requests for tokens for themselves only (RFC 8707), with PKCE', () => {
    const [exchange] = as.sent('/token');
    expect(exchange).to.include({ resource: RESOURCE, grant_type: 'authorization_code' });
    expect(exchange?.['code_verifier']).to.have.length.above(42);
  });

  it('keep the client that a connection registered, once', async () => {
    expect(as.hits('/reg')).to.equal(1);
    const link = await makeLink(server, { connector: provider, user_id: 'eve', identifier: 'eve' });
    await walk(browserFor(as), link, 'eve');
    expect(as.hits('/reg')).to.equal(1);
  });

  it('are shown with what was discovered, without internal fields', async () => {
    const { body } = await server.call('GET', `/api/v1/custom-providers/${provider}`);
    const [pattern] = body.provider.auth_patterns;
    expect(pattern.oauth_config).to.include({ issuer: as.issuer, token_uri: `${as.issuer}/token` });
    expect(pattern.oauth_config).to.not.have.property('resource');
  });

  it('have their tokens refreshed like those of any provider', async () => {
    const { id } = (await accountOf(server, 'ada')) as { id: string };
    clock.advance(2 * 3600_000);
    upstream.seen.length = 0;
    expect((await run(id)).body.data.content[0].text).to.equal('a.txt');
    const refresh = as.sent('/token').at(-1);
    expect(refresh).to.include({ grant_type: 'refresh_token', resource: RESOURCE });
    expect(new Set(upstream.seen.map(({ authorization }) => authorization)).size).to.equal(1);
  });

  it('with metadata of another resource are rejected (P7)', async () => {
    const before = upstream.metadata;
    upstream.metadata = { resource: 'https://bank.example/mcp', authorization_servers: [as.issuer] };
    const fields = { display_name: 'Liar', auth_patterns: [PATTERN], proxy_url: RESOURCE };
    const { identifier } = await createProvider(server, fields);
    const hits = as.hits('/auth');
    const page = await submitLink(new TestBrowser(), await makeLink(server, { connector: identifier }));
    expect(page.status).to.equal(502);
    expect(as.hits('/auth')).to.equal(hits);
    upstream.metadata = before;
  });

  it('accept the client that an operator has registered manually', async () => {
    const fields = { display_name: 'By hand', auth_patterns: [PATTERN], proxy_url: RESOURCE };
    const { identifier } = await createProvider(server, fields);
    const client = { client_id: 'by-hand', client_secret: 'secret-of-the-client-by-hand' };
    const connection = await createConnection(server, { connector: identifier, ...client });
    await as.register({ ...client, redirect_uris: [`${server.origin}/oauth/callback/${connection.id}`] });
    const registrations = as.hits('/reg');
    await world.connect(connection.key_id, 'bob');
    expect(as.hits('/reg')).to.equal(registrations);
  });

  describe('H3: that name an authorization server at another host for the client of an operator', () => {
    async function byHand(more: object = {}) {
      const fields = { auth_patterns: [PATTERN], proxy_url: RESOURCE };
      const { identifier } = await createProvider(server, fields);
      made += 1;
      const client = { client_id: `operator-${made}`, client_secret: `secret-of-operator-${made}` };
      const connection = await createConnection(server, { connector: identifier, ...client, ...more });
      await as.register({ ...client, redirect_uris: [`${server.origin}/oauth/callback/${connection.id}`] });
      return { identifier, connection };
    }
    let made = 0;
    const open = async (connector: string) => submitLink(browserFor(as), await makeLink(server, { connector }));

    it('are followed if the connection lists it, but not if it lists another', async () => {
      for (const [listed, leads] of [
        [[as.issuer], true],
        [['https://other.example', `${as.issuer}/elsewhere`], false],
      ] as const) {
        const { connection } = await byHand({ allowed_addresses: listed });
        const hits = as.hits('/auth');
        const page = await open(connection.key_id);
        expect(page.location?.startsWith(`${as.issuer}/auth`) ?? false, page.text).to.equal(leads);
        expect([page.status, as.hits('/auth')]).to.deep.equal([leads ? 303 : 502, hits]);
      }
    });

    it('H3: are not followed if another connection has discovered the server, or when it stops responding', async () => {
      const { identifier } = await createProvider(server, { auth_patterns: [PATTERN], proxy_url: RESOURCE });
      const registered = await createConnection(server, { connector: identifier });
      expect((await open(registered.key_id)).status, 'a registered client').to.equal(303);
      const client = { client_id: 'operator-second', client_secret: 'secret-of-operator-second' };
      const foreign = { ...client, allowed_addresses: ['https://other.example'] };
      const connection = await createConnection(server, { connector: identifier, ...foreign });
      const { metadata } = upstream;
      for (const said of [metadata, undefined]) {
        upstream.metadata = said;
        const page = await open(connection.key_id);
        expect([page.status, page.location]).to.deep.equal([502, undefined]);
      }
      upstream.metadata = metadata;
    });

    it('are not followed in production if the connection lists none', async () => {
      const { identifier, connection } = await byHand();
      const { store, catalogue, prepareConsent } = server.parts;
      const environment = await firstEnvironment(server);
      const row = (await store.read.connections.get(environment.id, connection.id)) as ConnectionRow;
      const definition = (await findProvider(store.read, catalogue, environment.id, identifier)) as ProviderDefinition;
      const link = { connection: row, provider: definition, pattern: definition.authPatterns[0] };
      const ready = (kind: string) => prepareConsent({ ...link, environment: { ...environment, kind } } as LinkContext);
      const refused = await ready('PRODUCTION');
      expect(refused.ok ? '' : refused.message)
        .to.include(as.issuer)
        .and.include('allowed_addresses');
      expect(await ready('DEVELOPMENT')).to.deep.include({ ok: true });
    });

    it('keep the client of the operator, for the discovered servers only', async () => {
      const { identifier, connection } = await byHand();
      expect((await open(connection.key_id)).status).to.equal(303);
      const path = `/api/v1/custom-providers/${identifier}`;
      const [learned] = (await server.call('GET', path)).body.provider.auth_patterns;
      expect(learned.oauth_config).to.include({ token_uri: `${as.issuer}/token` });
      expect((await server.call('PUT', path, { body: { description: 'Other' } })).status).to.equal(200);
      const shown = async () => (await server.call('GET', `/api/v1/connections/${connection.id}`)).body.connection;
      expect((await shown()).has_client_secret).to.equal(true);
      const moved = await server.call('PUT', path, { body: { proxy_url: 'https://evil.example/mcp' } });
      // Metadata of the old server is not used for the new one.
      expect(moved.body.provider.auth_patterns[0].oauth_config).not.to.have.any.keys('issuer', 'token_uri');
      expect(await shown()).to.include({ has_client_secret: false, client_id: '' });
      const events = (await auditOf(server, connection.id)).map(({ action }) => action);
      expect(events).to.include('connection.client_withdrawn');
    });
  });
});

describe('an authorization server that supports client metadata documents', () => {
  it('receives the address of a document, which is served', async () => {
    const issuer = 'https://as.example';
    const upstream = await startUpstream((request, res) => {
      if (request.target.startsWith('/.well-known/oauth-protected-resource')) {
        return json(res, 200, { resource: RESOURCE, authorization_servers: [issuer] });
      }
      return json(res, 200, {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
      });
    });
    const overrides = [upstream.endpointOverride(ORIGIN), upstream.endpointOverride(issuer)].join(',');
    const server = await startTestServer({
      env: { BASE_URL: 'https://valetkey.example', VALETKEY_ENDPOINT_OVERRIDES: overrides },
    });
    await allowVerifyUrls(server, VERIFY_URL);
    const { identifier } = await createProvider(server, { auth_patterns: [PATTERN], proxy_url: RESOURCE });
    const link = (await makeLink(server, { connector: identifier })).replace('https://valetkey.example', server.origin);
    const page = await submitLink(new TestBrowser(), link);
    const sent = new URL(page.location ?? '').searchParams;
    const clientId = sent.get('client_id') ?? '';
    expect(clientId).to.match(/^https:\/\/valetkey\.example\/oauth\/client\/conn_/);
    const { body } = await server.call('GET', new URL(clientId).pathname, { token: null });
    expect(body).to.deep.include({ client_id: clientId, token_endpoint_auth_method: 'none' });
    expect(body.redirect_uris).to.deep.equal([sent.get('redirect_uri')]);
    expect((await server.call('GET', '/oauth/client/conn_0', { token: null })).status).to.equal(404);
    await server.stop();
    await upstream.stop();
  });
});
