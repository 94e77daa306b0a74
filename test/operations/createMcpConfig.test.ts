import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { type McpConfigs, MCP_CONFIGS_PATH as PATH, useMcpConfigs } from '../support/mcp-configs.ts';
import { createConnection } from '../support/providers.ts';

describe('createMcpConfig', () => {
  const configs = useMcpConfigs();

  const errorsOf = ({ body }: Awaited<ReturnType<McpConfigs['create']>>) => body.errors;

  describe('201', () => {
    it('returns one address for several connections', async () => {
      const mappings = [
        { connection_id: configs.issues, tools: ['github_list_issues'] },
        { connection_id: configs.chat },
      ];
      const { status, body } = await configs.create({ name: 'Support', description: 'For support.', mappings });
      expect(status).to.equal(201);
      const { id, created_at, updated_at, ...rest } = body.config;
      expect(id).to.match(/^mcp_/);
      expect(created_at).to.equal(updated_at);
      expect(rest).to.deep.equal({
        name: 'Support',
        description: 'For support.',
        mappings: [
          {
            connection_id: configs.issues,
            tools: ['github_list_issues'],
            max_listed_tools: null,
            resources: false,
            prompts: false,
          },
          { connection_id: configs.chat, tools: null, max_listed_tools: 40, resources: false, prompts: false },
        ],
        mcp_server_url: `http://localhost/mcp/${id}`,
      });
      expect((await auditOf(configs.server, id)).map(({ action }) => action)).to.deep.equal(['mcp_config.created']);
    });

    it('stores how many tools are listed', async () => {
      for (const max_listed_tools of [1, 1000, null]) {
        const { body } = await configs.create({ mappings: [{ connection_id: configs.issues, max_listed_tools }] });
        expect(body.config.mappings[0]).to.include({ tools: null, max_listed_tools });
        const { body: read } = await configs.server.call('GET', `${PATH}/${body.config.id}`);
        expect(read.config).to.deep.equal(body.config);
      }
    });

    it('creates one config for one idempotency key', async () => {
      const request = { body: { name: 'Once', mappings: [{ connection_id: configs.chat }] } };
      const headers = { 'idempotency-key': 'config-once' };
      const first = await configs.server.call('POST', PATH, { ...request, headers });
      const second = await configs.server.call('POST', PATH, { ...request, headers });
      expect(second.body).to.deep.equal(first.body);
      const other = await configs.server.call('POST', PATH, { body: { ...request.body, name: 'Twice' }, headers });
      expect(other.status).to.equal(422);
    });
  });

  describe('400', () => {
    it('rejects a number of listed tools out of range, or beside names of tools', async () => {
      for (const [mapping, field] of [
        [{ max_listed_tools: 0 }, 'mappings[0].max_listed_tools'],
        [{ max_listed_tools: 1001 }, 'mappings[0].max_listed_tools'],
        [{ max_listed_tools: 1, tools: ['github_list_issues'] }, 'mappings[0].max_listed_tools'],
      ] as const) {
        const response = await configs.create({ mappings: [{ connection_id: configs.issues, ...mapping }] });
        expect(response.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(errorsOf(response).map((error: { field: string }) => error.field)).to.deep.equal([field]);
      }
    });

    it('rejects a mapping to an unknown connection', async () => {
      const response = await configs.create({
        mappings: [{ connection_id: configs.issues }, { connection_id: unknownId('conn') }],
      });
      expect(response.body).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
      expect(errorsOf(response)[0].field).to.equal('mappings[1].connection_id');
    });

    for (const member of ['resources', 'prompts']) {
      it(`rejects ${member} of a connection that is not one of an MCP server`, async () => {
        const response = await configs.create({ mappings: [{ connection_id: configs.issues, [member]: true }] });
        expect(response.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(errorsOf(response)).to.deep.equal([
          { field: `mappings[0].${member}`, message: 'is only allowed for a connection of an MCP server' },
        ]);
      });
    }

    it('rejects tools that the connection does not have or does not allow', async () => {
      const { id } = await createConnection(configs.server, {
        connector: 'github',
        allowed_tools: ['github_list_issues'],
      });
      const tools = ['github_list_issues', 'github_create_issue', 'slack_list_channels'];
      const response = await configs.create({ mappings: [{ connection_id: id, tools }] });
      expect(response.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(errorsOf(response).map(({ field }: { field: string }) => field)).to.deep.equal([
        'mappings[0].tools[1]',
        'mappings[0].tools[2]',
      ]);
    });

    it('rejects a tool name that two connections offer, because a model could not distinguish them', async () => {
      const { id } = await createConnection(configs.server, { connector: 'github' });
      const response = await configs.create({ mappings: [{ connection_id: configs.issues }, { connection_id: id }] });
      expect(errorsOf(response)[0]).to.include({ field: 'mappings[1].tools' });
      const apart = [
        { connection_id: configs.issues, tools: ['github_list_issues'] },
        { connection_id: id, tools: ['github_create_issue'] },
      ];
      expect((await configs.create({ mappings: apart })).status).to.equal(201);
    });

    it('rejects more than 25 mappings, and an empty list', async () => {
      const many = Array.from({ length: 26 }, () => ({ connection_id: configs.issues }));
      expect((await configs.create({ mappings: many })).body.code).to.equal('VALIDATION_FAILED');
      expect((await configs.create({ mappings: [] })).body.code).to.equal('VALIDATION_FAILED');
    });
  });

  describe('409', () => {
    it('rejects a name that another config has', async () => {
      await configs.create({ name: 'Taken' });
      expect((await configs.create({ name: 'Taken' })).body).to.include({ status: 409, code: 'MCP_CONFIG_EXISTS' });
    });
  });
});
