import * as sdk from '@modelcontextprotocol/server';
import { expect } from 'chai';
import { readMetadata } from '../../core/oauth/metadata.ts';
import { freePort } from '../../scripts/demo/process.ts';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { TestBrowser } from '../support/browser.ts';
import { browserFor, connectUser, makeLink, startLinkServer, submitLink } from '../support/links.ts';
import { createMcpProvider, syncTools } from '../support/mcp-provider.ts';
import { type ModernServer, startModernServer } from '../support/mcp-upstream.ts';
import { API_KEY_PATTERN, createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';

const PATH = '/api/v1/custom-providers';
const FAR = 'https://files.example';
const OAUTH = { type: 'OAUTH', is_mcp: true };

function clockServer() {
  const server = new sdk.McpServer({ name: 'clock', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = sdk.fromJsonSchema({ type: 'object' } as never);
  server.registerTool('now', { description: 'Tells the time.', inputSchema }, (() => ({
    content: [{ type: 'text', text: 'noon' }],
  })) as never);
  return server;
}

describe('X11: providers on this machine', () => {
  let as: AuthorizationServer;
  let near: ModernServer;
  let far: ModernServer;
  let server: TestServer;
  let unlisted: number;

  before(async () => {
    [near, far] = [await startModernServer(clockServer), await startModernServer(clockServer)];
    as = await startAuthorizationServer({ resource: `${near.origin}/mcp`, localPort: await freePort() });
    unlisted = await freePort();
    const listed = [near.origin, as.issuer].map((origin) => new URL(origin).host);
    const env = {
      VALETKEY_EGRESS_ALLOW: [...listed, 'api.example.com:8080'].join(','),
      VALETKEY_ENDPOINT_OVERRIDES: far.endpointOverride(FAR),
    };
    server = await startLinkServer({ env });
  });
  after(async () => {
    await server.stop();
    for (const upstream of [near, far]) await upstream.stop();
    await as.stop();
  });

  const pattern = (oauth_config: object) => ({ type: 'OAUTH', oauth_config });
  const create = (fields: object, call = server.call) =>
    call('POST', PATH, { body: { display_name: 'Near', auth_patterns: [API_KEY_PATTERN], ...fields } });

  it('are rejected if the settings do not list them', async () => {
    const { port } = new URL(near.origin);
    for (const proxy_url of [
      `http://127.0.0.1:${unlisted}/mcp`,
      `http://localhost:${port}`,
      `http://127.0.0.2:${port}`,
      `http://[::1]:${port}`,
      'http://127.0.0.1',
    ]) {
      const { status, body, text } = await create({ proxy_url });
      expect([status, body.errors?.[0].field], `${proxy_url} ${text}`).to.deep.equal([400, 'proxy_url']);
      expect(body.errors[0].message).to.include('VALETKEY_EGRESS_ALLOW');
    }
  });

  it('do not allow other hosts over plain http, listed or not', async () => {
    const { port } = new URL(near.origin);
    for (const host of [
      'api.example.com:8080',
      'api.example.com',
      '10.0.0.1',
      `127.0.0.1.nip.example:${port}`,
      '{{a}}.localhost.example',
    ]) {
      const { status, body, text } = await create({ proxy_url: `http://${host}/` });
      expect([status, body.errors?.[0].field], `${host} ${text}`).to.deep.equal([400, 'proxy_url']);
      expect(body.errors[0].message).to.include('https');
    }
  });

  it('are rejected in production', async () => {
    const production = await addSecondEnvironment(server, { kind: 'PRODUCTION' });
    const fields = { proxy_url: `${near.origin}/mcp` };
    expect((await create(fields)).status).to.equal(201);
    const refused = await create(fields, production.call);
    expect([refused.status, refused.body.errors?.[0].field]).to.deep.equal([400, 'proxy_url']);
  });

  it('list and run their tools', async () => {
    const provider = await createMcpProvider(server, `${near.origin}/mcp`, { name: 'Clock' });
    expect((await provider.sync()).body.added).to.deep.equal(['clock_now']);
    expect((await provider.run('clock_now')).body.data.content[0].text).to.equal('noon');
  });

  it('can become the address of a custom provider, and the server of an imported document', async () => {
    const { identifier } = await createProvider(server, { proxy_url: `${FAR}/mcp` });
    const move = (proxy_url: string) => server.call('PUT', `${PATH}/${identifier}`, { body: { proxy_url } });
    expect((await move(`http://127.0.0.1:${unlisted}`)).status).to.equal(400);
    expect((await move(near.origin)).body.provider.proxy_url).to.equal(near.origin);
    const document = (url: string) => ({
      openapi: '3.1.0',
      info: { title: 'Near', version: '1' },
      servers: [{ url }],
      paths: { '/notes': { get: { operationId: 'listNotes', responses: { 200: { description: 'ok' } } } } },
    });
    const load = (connector: string, url: string, base_url?: string) => {
      const files = [{ name: 'openapi.json', content: JSON.stringify(document(url)) }];
      return server.call('POST', '/api/v1/tools:import', { body: { connector, files, base_url } });
    };
    expect((await load('no-port', `http://127.0.0.1:${unlisted}`)).status).to.equal(400);
    for (const answer of [await load('by-document', near.origin), await load('by-base', FAR, near.origin)]) {
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.provider.base_url).to.equal(near.origin);
    }
  });

  it('have authorization servers on this machine', async () => {
    near.metadata = {
      resource: `${near.origin}/mcp`,
      authorization_servers: [as.issuer],
      scopes_supported: ['files:read'],
    };
    near.refuse = async (authorization = '') =>
      (await as.isAlive(authorization.replace('Bearer ', ''))) ? undefined : 401;
    const fields = { display_name: 'Signed in', auth_patterns: [OAUTH], proxy_url: `${near.origin}/mcp` };
    const { identifier } = await createProvider(server, fields);
    const { id } = await connectUser(server, browserFor(as), identifier, 'ada');
    const synced = await syncTools(server, identifier);
    expect(synced.body.added, synced.text).to.deep.equal(['signed_in_now']);
    const body = { tool_name: 'signed_in_now', tool_input: {}, connected_account_id: id };
    const ran = await server.call('POST', '/api/v1/execute_tool', { body });
    expect(ran.body.data.content[0].text).to.equal('noon');
    near.refuse = () => undefined;
    near.metadata = undefined;
  });

  it('are named as authorization servers only by servers on this machine', async () => {
    far.metadata = { resource: `${FAR}/mcp`, authorization_servers: [as.issuer] };
    const { identifier } = await createProvider(server, { auth_patterns: [OAUTH], proxy_url: `${FAR}/mcp` });
    const hits = as.hits('/.well-known/openid-configuration') + as.hits('/.well-known/oauth-authorization-server');
    expect(hits, 'the control: it is asked when a server of this machine names it').to.be.above(0);
    const page = await submitLink(new TestBrowser(), await makeLink(server, { connector: identifier }));
    expect(page.status).to.equal(502);
    expect(as.hits('/.well-known/openid-configuration') + as.hits('/.well-known/oauth-authorization-server')).to.equal(
      hits,
    );
    const metadata = (issuer: string) => readMetadata({ issuer, token_endpoint: `${as.issuer}/token` }, issuer).ok;
    expect([metadata(as.issuer), metadata('https://as.example')]).to.deep.equal([true, false]);
    far.metadata = undefined;
  });

  it('are checked in every address of a pattern', async () => {
    const config = { authorize_uri: `${as.issuer}/auth`, token_uri: `${as.issuer}/token` };
    expect((await create({ auth_patterns: [pattern(config)] })).status).to.equal(201);
    for (const member of ['authorize_uri', 'token_uri', 'revocation_uri', 'user_info_uri', 'issuer'] as const) {
      for (const origin of [`http://127.0.0.1:${unlisted}`, 'http://api.example.com:8080', 'http://idp.example']) {
        const { status, body, text } = await create({ auth_patterns: [pattern({ ...config, [member]: origin })] });
        expect(status, `${member} ${origin} ${text}`).to.equal(400);
        expect(body.errors[0].field).to.equal(`auth_patterns[0].oauth_config.${member}`);
      }
    }
    const listed = await createConnection(server, {
      connector: 'smart_fhir',
      allowed_addresses: [`${near.origin}/fhir`],
    });
    expect(listed.allowed_addresses).to.deep.equal([`${near.origin}/fhir`]);
    const body = { connector: 'smart_fhir', key_id: 'plain', allowed_addresses: ['http://ehr.example/fhir'] };
    expect((await server.call('POST', '/api/v1/connections', { body })).status).to.equal(400);
  });
});
