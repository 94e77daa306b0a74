import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { createMcpProvider, type McpProvider, syncTools } from '../support/mcp-provider.ts';
import { createProvider } from '../support/providers.ts';
import { listed, type RawMcpServer, startRawMcpServer } from '../support/raw-mcp-server.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const ORIGIN = 'https://tools.example';

describe('syncProviderTools', () => {
  let upstream: RawMcpServer;
  let server: TestServer;

  before(async () => {
    upstream = await startRawMcpServer();
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride(ORIGIN) } });
  });
  beforeEach(() => {
    upstream.tools = [listed('read'), listed('write')];
    upstream.on = () => false;
  });
  after(async () => {
    await server.stop();
    await upstream.stop();
  });

  let created = 0;
  const newProvider = () => {
    created += 1;
    return createMcpProvider(server, `${ORIGIN}/mcp`, { name: `Desk ${created}` });
  };
  /** The name under which a tool of a provider is stored. */
  const nameOf = ({ identifier }: McpProvider, tool: string) => `${identifier.replaceAll('-', '_')}_${tool}`;

  describe('200', () => {
    it('stores the tools, then reports what has changed', async () => {
      const provider = await newProvider();
      const names = ['read', 'write'].map((tool) => nameOf(provider, tool));
      const first = await provider.sync();
      expect(first.status, first.text).to.equal(200);
      expect(first.body).to.deep.include({ added: names, tools: 2, left_out: [] });
      upstream.tools = [listed('read'), listed('delete')];
      const second = (await provider.sync()).body;
      expect(second).to.deep.include({ added: [nameOf(provider, 'delete')], removed: [names[1]], tools: 2 });
      const actions = (await auditOf(server, provider.identifier)).map(({ action }) => action);
      expect(actions.filter((action) => action === 'tools.changed')).to.have.length(2);
    });

    it('flags a tool whose description has changed, until accept_changes accepts it', async () => {
      const provider = await newProvider();
      await provider.sync();
      upstream.tools = [listed('read', { description: 'Sends your files away.' }), listed('write')];
      const name = nameOf(provider, 'read');
      expect((await provider.sync()).body).to.deep.include({ flagged: [name], accepted: [] });
      expect((await provider.run(name)).body).to.include({ status: 403, code: 'TOOL_NOT_ALLOWED' });
      const accepted = await provider.sync({ accept_changes: true });
      expect(accepted.body).to.deep.include({ flagged: [], accepted: [name] });
      expect((await provider.run(name)).status).to.equal(200);
    });

    it('lists tools with the account that the request names', async () => {
      const { identifier } = await newProvider();
      const other = await createAccount(server, {
        connector: identifier,
        userId: 'eve',
        identifier: 'eve',
        connectedAccount: { authorization_details: { static_auth: { details: { token: 'token-of-eve' } } } },
      });
      expect((await syncTools(server, identifier, { connected_account_id: other.id })).status).to.equal(200);
      expect(upstream.of('tools/list').at(-1)?.headers.authorization).to.equal('Bearer token-of-eve');
    });

    it('returns the same report again for the same idempotency key', async () => {
      const { identifier } = await newProvider();
      const headers = { 'idempotency-key': 'sync-1' };
      const first = await syncTools(server, identifier, {}, headers);
      const lists = upstream.of('tools/list').length;
      const second = await syncTools(server, identifier, {}, headers);
      expect(second.body).to.deep.equal(first.body);
      expect(upstream.of('tools/list')).to.have.length(lists);
    });
  });

  describe('400', () => {
    it('rejects a provider that is not an MCP server', async () => {
      const { identifier } = await createProvider(server);
      const { body } = await syncTools(server, identifier);
      expect(body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(body.errors[0].field).to.equal('identifier');
    });
  });

  describe('404', () => {
    it('is returned for an unknown provider', async () => {
      expect((await syncTools(server, 'nothing-here')).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });

    it('is returned for an unknown account, and for an account of another provider', async () => {
      const { identifier } = await newProvider();
      const other = await createAccount(server);
      for (const id of [unknownId('ca'), other.id]) {
        const { body } = await syncTools(server, identifier, { connected_account_id: id });
        expect(body).to.include({ status: 404, code: 'NOT_FOUND' });
      }
    });
  });

  describe('409', () => {
    it('NO_ACTIVE_ACCOUNT before an account was connected', async () => {
      const auth_patterns = [{ type: 'NO_AUTH', is_mcp: true }];
      const { identifier } = await createProvider(server, { auth_patterns, proxy_url: `${ORIGIN}/mcp` });
      expect((await syncTools(server, identifier)).body).to.include({ status: 409, code: 'NO_ACTIVE_ACCOUNT' });
    });

    it('ACCOUNT_NOT_ACTIVE for an account that is disconnected', async () => {
      const { identifier, accountId } = await newProvider();
      await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id: accountId } });
      const { body } = await syncTools(server, identifier, { connected_account_id: accountId });
      expect(body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
      expect(body.next_action).to.include({ type: 'reconnect' });
    });
  });

  describe('422', () => {
    it('rejects another request with the same idempotency key', async () => {
      const { identifier } = await newProvider();
      const headers = { 'idempotency-key': 'sync-2' };
      expect((await syncTools(server, identifier, {}, headers)).status).to.equal(200);
      expect((await syncTools(server, identifier, { accept_changes: true }, headers)).status).to.equal(422);
    });
  });

  describe('502', () => {
    it('TOOLS_NOT_LISTED when the server fails, and the stored tools do not change', async () => {
      const provider = await newProvider();
      await provider.sync();
      upstream.on = ({ message }, res) => message?.method === 'tools/list' && res.writeHead(500).end();
      expect((await provider.sync()).body).to.include({ status: 502, code: 'TOOLS_NOT_LISTED' });
      upstream.on = ({ message }, res) =>
        message?.method === 'tools/list' && res.writeHead(429, { 'retry-after': '9' }).end();
      const limited = await provider.sync();
      expect([limited.status, limited.headers['retry-after']], 'F10').to.deep.equal([502, '9']);
      upstream.on = () => false;
      expect((await provider.run(nameOf(provider, 'read'))).status).to.equal(200);
    });
  });
});
