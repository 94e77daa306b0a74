import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { connectMcp, rawMcp, sessionToken } from '../support/mcp.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/mcp/configs';

describe('MCP configs', () => {
  let server: TestServer;
  let issues: string;
  let chat: string;
  let made = 0;

  before(async () => {
    server = await startTestServer();
    issues = (await createConnection(server, { connector: 'github' })).id;
    chat = (await createConnection(server, { connector: 'slack' })).id;
  });
  after(() => server.stop());

  function create(fields: Record<string, unknown> = {}) {
    made += 1;
    return server.call('POST', PATH, {
      body: { name: `Config ${made}`, mappings: [{ connection_id: issues }], ...fields },
    });
  }
  const errorsOf = ({ body }: Awaited<ReturnType<typeof create>>) => body.errors;

  describe('createMcpConfig', () => {
    it('201 gives an address over several connections', async () => {
      const mappings = [{ connection_id: issues, tools: ['github_list_issues'] }, { connection_id: chat }];
      const { status, body } = await create({ name: 'Support', description: 'For support.', mappings });
      expect(status).to.equal(201);
      const { id, created_at, updated_at, ...rest } = body.config;
      expect(id).to.match(/^mcp_/);
      expect(created_at).to.equal(updated_at);
      expect(rest).to.deep.equal({
        name: 'Support',
        description: 'For support.',
        mappings: [
          { connection_id: issues, tools: ['github_list_issues'] },
          { connection_id: chat, tools: null },
        ],
        mcp_server_url: `http://localhost/mcp/${id}`,
      });
      expect((await auditOf(server, id)).map(({ action }) => action)).to.deep.equal(['mcp_config.created']);
    });

    it('201 once for one idempotency key', async () => {
      const request = { body: { name: 'Once', mappings: [{ connection_id: chat }] } };
      const headers = { 'idempotency-key': 'config-once' };
      const first = await server.call('POST', PATH, { ...request, headers });
      const second = await server.call('POST', PATH, { ...request, headers });
      expect(second.body).to.deep.equal(first.body);
      const other = await server.call('POST', PATH, { body: { ...request.body, name: 'Twice' }, headers });
      expect(other.status).to.equal(422);
    });

    it('400 to a mapping of no connection', async () => {
      const answer = await create({ mappings: [{ connection_id: issues }, { connection_id: unknownId('conn') }] });
      expect(answer.body).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
      expect(errorsOf(answer)[0].field).to.equal('mappings[1].connection_id');
    });

    it('400 to a tool that is not one of the connection, or that it does not allow', async () => {
      const { id } = await createConnection(server, { connector: 'github', allowed_tools: ['github_list_issues'] });
      const tools = ['github_list_issues', 'github_create_issue', 'slack_list_channels'];
      const answer = await create({ mappings: [{ connection_id: id, tools }] });
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(errorsOf(answer).map(({ field }: { field: string }) => field)).to.deep.equal([
        'mappings[0].tools[1]',
        'mappings[0].tools[2]',
      ]);
    });

    it('400 to a name that two connections would offer: a model could not tell them apart', async () => {
      const { id } = await createConnection(server, { connector: 'github' });
      const answer = await create({ mappings: [{ connection_id: issues }, { connection_id: id }] });
      expect(errorsOf(answer)[0]).to.include({ field: 'mappings[1].tools' });
      const apart = [
        { connection_id: issues, tools: ['github_list_issues'] },
        { connection_id: id, tools: ['github_create_issue'] },
      ];
      expect((await create({ mappings: apart })).status).to.equal(201);
    });

    it('400 to more than 25 mappings, and to none', async () => {
      const many = Array.from({ length: 26 }, () => ({ connection_id: issues }));
      expect((await create({ mappings: many })).body.code).to.equal('VALIDATION_FAILED');
      expect((await create({ mappings: [] })).body.code).to.equal('VALIDATION_FAILED');
    });

    it('409 to a name that is taken', async () => {
      await create({ name: 'Taken' });
      expect((await create({ name: 'Taken' })).body).to.include({ status: 409, code: 'MCP_CONFIG_EXISTS' });
    });
  });

  describe('getMcpConfig', () => {
    it('200 shows a config, 404 none', async () => {
      const { config } = (await create()).body;
      const answer = await server.call('GET', `${PATH}/${config.id}`);
      expect(answer.status).to.equal(200);
      expect(answer.body.config).to.deep.equal(config);
      expect((await server.call('GET', `${PATH}/${unknownId('mcp')}`)).body).to.include({
        status: 404,
        code: 'NOT_FOUND',
      });
    });
  });

  describe('listMcpConfigs', () => {
    it('200 shows them page by page, the newest first', async () => {
      const { config } = (await create()).body;
      const first = await server.call('GET', `${PATH}?page_size=1`);
      expect(first.status).to.equal(200);
      expect(first.body.configs).to.deep.equal([config]);
      const second = await server.call('GET', `${PATH}?page_size=1&page_token=${first.body.next_page_token}`);
      expect(second.body.configs).to.have.length(1);
      expect(second.body.configs[0].id < config.id).to.equal(true);
      expect(second.body.total_size).to.equal(first.body.total_size);
    });
  });

  describe('updateMcpConfig', () => {
    it('200 changes what is given, and clients see it with their next list', async () => {
      const { config } = (await create()).body;
      const token = await sessionToken(server, config.id);
      const client = await connectMcp(server, config.id, token);
      const mappings = [{ connection_id: chat, tools: ['slack_list_channels'] }];
      const answer = await server.call('PUT', `${PATH}/${config.id}`, { body: { mappings } });
      expect(answer.status).to.equal(200);
      expect(answer.body.config).to.deep.include({ name: config.name, mappings });
      const { body } = await rawMcp(server, config.id, { token });
      expect(body.result.tools.map(({ name }: { name: string }) => name)).to.deep.equal(['slack_list_channels']);
      await client.close();
    });

    it('400 and 409 as on create, 404 to an unknown one; nothing is changed', async () => {
      const { config } = (await create()).body;
      const put = (body: object, id = config.id) => server.call('PUT', `${PATH}/${id}`, { body });
      expect((await put({ mappings: [{ connection_id: 'conn_0' }] })).status).to.equal(400);
      const other = (await create()).body.config;
      expect((await put({ name: other.name })).body).to.include({ status: 409, code: 'MCP_CONFIG_EXISTS' });
      expect((await put({ name: 'New' }, unknownId('mcp'))).status).to.equal(404);
      expect((await server.call('GET', `${PATH}/${config.id}`)).body.config).to.deep.equal(config);
    });
  });

  describe('deleteMcpConfig', () => {
    it('200 ends the address and its tokens at once', async () => {
      const { config } = (await create()).body;
      const token = await sessionToken(server, config.id);
      expect((await rawMcp(server, config.id, { token })).status).to.equal(200);
      const answer = await server.call('DELETE', `${PATH}/${config.id}`);
      expect(answer.body).to.deep.equal({});
      expect((await rawMcp(server, config.id, { token })).status).to.equal(401);
      expect((await server.call('DELETE', `${PATH}/${config.id}`)).status).to.equal(404);
    });
  });

  it('keep their connections from being deleted', async () => {
    const { id } = await createConnection(server, { connector: 'notion' });
    const { config } = (await create({ name: 'Keeps notion', mappings: [{ connection_id: id }] })).body;
    const refused = await server.call('DELETE', `/api/v1/connections/${id}`);
    expect(refused.body).to.include({ status: 409, code: 'CONNECTION_IN_USE' });
    expect(refused.body.detail).to.contain('Keeps notion');
    await server.call('DELETE', `${PATH}/${config.id}`);
    expect((await server.call('DELETE', `/api/v1/connections/${id}`)).status).to.equal(200);
  });
});
