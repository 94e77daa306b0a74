import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import type { TestClock } from '../support/clock.ts';
import { OAUTH_MCP_PATTERN as PATTERN, FILES_RESOURCE as RESOURCE } from '../support/files-server.ts';
import { type FilesWorld, startFilesWorld } from '../support/files-world.ts';
import { accountOf } from '../support/links.ts';
import { syncTools } from '../support/mcp-provider.ts';
import type { ModernServer } from '../support/mcp-upstream.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

describe('X5: an MCP server that changes its authorization server', () => {
  let old: AuthorizationServer;
  let next: AuthorizationServer;
  let upstream: ModernServer;
  let server: TestServer;
  let clock: TestClock;

  let world: FilesWorld;

  beforeEach(async () => {
    world = await startFilesWorld(['old', 'next']);
    ({ server, upstream, clock } = world);
    [old, next] = world.servers as [AuthorizationServer, AuthorizationServer];
  });
  afterEach(() => world.stop());

  const trust: FilesWorld['trust'] = (...servers) => world.trust(...servers);
  const newProvider = () => world.provider();
  const connect = (connector: string, user: string) => world.connect(connector, user);
  const opened = (connector: string) => world.open(connector);
  const leadsTo = async (connector: string) => new URL((await opened(connector)).location ?? 'https://nowhere').origin;
  const sync = (provider: string) => syncTools(server, provider);
  const providerPath = (provider: string) => `/api/v1/custom-providers/${provider}`;

  it('leads new links to the new one, where a client is registered and the account works', async () => {
    const provider = await newProvider();
    const ada = await connect(provider, 'ada');
    trust(next);
    await connect(provider, 'eve');
    expect([old.hits('/reg'), next.hits('/reg')]).to.deep.equal([1, 1]);
    expect(next.sent('/token').at(-1)).to.include({ resource: RESOURCE, grant_type: 'authorization_code' });
    expect((await sync(provider)).body.added).to.have.length(1);
    // Tokens of the old server are not sent to the new one.
    expect(await accountOf(server, 'ada')).to.include({ status: 'PENDING_AUTH' });
    const actions = (await auditOf(server, ada)).map(({ action }) => action);
    expect(actions).to.include('connected_account.parked');
    await connect(provider, 'ada');
    expect(await accountOf(server, 'ada')).to.include({ status: 'ACTIVE' });
    expect(next.hits('/reg')).to.equal(1);
  });

  it('requires accounts to be authorized again when their refresh fails', async () => {
    const provider = await newProvider();
    await connect(provider, 'ada');
    await sync(provider);
    trust(next);
    await old.stop();
    clock.advance(2 * 3600_000);
    const { name } = (await server.call('GET', `/api/v1/tools?connector=${provider}`)).body.tools[0];
    const { id } = (await accountOf(server, 'ada')) as { id: string };
    const body = { tool_name: name, tool_input: {}, connected_account_id: id };
    const failed = await server.call('POST', '/api/v1/execute_tool', { body });
    expect(failed.status).to.be.within(400, 599);
    const account = await accountOf(server, 'ada');
    expect(account?.status).to.equal('EXPIRED');
    expect(account?.status_reason).to.include('another authorization server');
    expect(next.hits('/token')).to.equal(0);
    await connect(provider, 'ada');
    expect((await server.call('POST', '/api/v1/execute_tool', { body })).status).to.equal(200);
  });

  it('keeps accounts whose refresh fails while it names the same one', async () => {
    const provider = await newProvider();
    await connect(provider, 'ada');
    await old.stop();
    clock.advance(2 * 3600_000);
    await sync(provider);
    expect(await accountOf(server, 'ada')).to.include({ status: 'ACTIVE' });
  });

  it('makes links fail while the new one is unreachable', async () => {
    const provider = await newProvider();
    await connect(provider, 'ada');
    trust(next);
    await next.stop();
    expect((await opened(provider)).status).to.equal(502);
    expect(await accountOf(server, 'ada')).to.include({ status: 'ACTIVE' });
  });

  it('keeps the known one while its metadata still name it, or name none', async () => {
    const provider = await newProvider();
    await connect(provider, 'ada');
    trust(next, old);
    expect(await leadsTo(provider)).to.equal(old.issuer);
    upstream.metadata = undefined;
    expect(await leadsTo(provider)).to.equal(old.issuer);
    expect(await accountOf(server, 'ada')).to.include({ status: 'ACTIVE' });
    trust(next);
    expect(await leadsTo(provider), 'the control').to.equal(next.issuer);
  });

  it('is followed after an update that repeats its patterns, but not if an operator has changed them', async () => {
    const provider = await newProvider();
    await connect(provider, 'ada');
    const { auth_patterns } = (await server.call('GET', providerPath(provider))).body.provider;
    expect(auth_patterns[0].oauth_config).not.to.have.any.keys('learned', 'resource');
    const update = (patterns: unknown) =>
      server.call('PUT', providerPath(provider), { body: { auth_patterns: patterns } });
    expect((await update(auth_patterns)).status).to.equal(200);
    const page = await opened(provider);
    expect(new URL(page.location ?? '').searchParams.get('resource')).to.equal(RESOURCE);
    trust(next);
    expect(await leadsTo(provider)).to.equal(next.issuer);
    const [{ oauth_config: config }] = auth_patterns;
    expect((await update([{ ...PATTERN, oauth_config: { ...config, issuer: old.issuer } }])).status).to.equal(200);
    expect(await leadsTo(provider)).to.equal(old.issuer);
  });

  it('disables the client of an operator, which is not used at the new one until it is set again', async () => {
    const provider = await newProvider();
    const client = { client_id: 'by-hand', client_secret: 'secret-of-the-client-by-hand' };
    const connection = await createConnection(server, { connector: provider, ...client });
    const path = `/api/v1/connections/${connection.id}`;
    const redirect_uris = [`${server.origin}/oauth/callback/${connection.id}`];
    await old.register({ ...client, redirect_uris });
    await connect(connection.key_id, 'ada');
    trust(next);
    expect((await opened(connection.key_id)).status).to.equal(502);
    expect((await server.call('GET', path)).body.connection).to.include({ has_client_secret: false, status: 'DRAFT' });
    expect((await auditOf(server, connection.id)).map(({ action }) => action)).to.include(
      'connection.client_withdrawn',
    );
    expect([next.hits('/reg'), next.hits('/token')]).to.deep.equal([0, 0]);
    const again = { client_id: 'again', client_secret: 'secret-of-the-client-again' };
    await next.register({ ...again, redirect_uris });
    expect((await server.call('PUT', path, { body: again })).status).to.equal(200);
    await connect(connection.key_id, 'ada');
    expect(next.sent('/token').length).to.equal(1);
  });
});
