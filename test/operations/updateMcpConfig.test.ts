import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { connectMcp, rawMcp, sessionToken } from '../support/mcp.ts';
import { MCP_CONFIGS_PATH as PATH, useMcpConfigs } from '../support/mcp-configs.ts';

describe('updateMcpConfig', () => {
  const configs = useMcpConfigs();

  const put = (id: string, body: object) => configs.server.call('PUT', `${PATH}/${id}`, { body });
  const stored = async (id: string) => (await configs.server.call('GET', `${PATH}/${id}`)).body.config;

  describe('200', () => {
    it('changes the given fields, and clients get the new tools with their next list', async () => {
      const { config } = (await configs.create()).body;
      const token = await sessionToken(configs.server, config.id);
      const client = await connectMcp(configs.server, config.id, token);
      const shown = { max_listed_tools: null, resources: false, prompts: false };
      const mappings = [{ connection_id: configs.chat, tools: ['slack_list_channels'], ...shown }];
      const response = await put(config.id, { mappings });
      expect(response.status).to.equal(200);
      expect(response.body.config).to.deep.include({ name: config.name, mappings });
      const { body } = await rawMcp(configs.server, config.id, { token });
      expect(body.result.tools.map(({ name }: { name: string }) => name)).to.deep.equal(['slack_list_channels']);
      await client.close();
    });
  });

  describe('400', () => {
    it('rejects a mapping to an unknown connection, and changes nothing', async () => {
      const { config } = (await configs.create()).body;
      expect((await put(config.id, { mappings: [{ connection_id: 'conn_0' }] })).status).to.equal(400);
      expect(await stored(config.id)).to.deep.equal(config);
    });
  });

  describe('404', () => {
    it('is returned for an unknown id', async () => {
      expect((await put(unknownId('mcp'), { name: 'New' })).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });

  describe('409', () => {
    it('rejects a name that another config has, and changes nothing', async () => {
      const { config } = (await configs.create()).body;
      const other = (await configs.create()).body.config;
      expect((await put(config.id, { name: other.name })).body).to.include({ status: 409, code: 'MCP_CONFIG_EXISTS' });
      expect(await stored(config.id)).to.deep.equal(config);
    });
  });
});
