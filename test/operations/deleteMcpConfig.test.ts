import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { rawMcp, sessionToken } from '../support/mcp.ts';
import { MCP_CONFIGS_PATH as PATH, useMcpConfigs } from '../support/mcp-configs.ts';
import { createConnection } from '../support/providers.ts';

describe('deleteMcpConfig', () => {
  const configs = useMcpConfigs();

  const remove = (id: string) => configs.server.call('DELETE', `${PATH}/${id}`);

  describe('200', () => {
    it('revokes the address and its session tokens immediately', async () => {
      const { config } = (await configs.create()).body;
      const token = await sessionToken(configs.server, config.id);
      expect((await rawMcp(configs.server, config.id, { token })).status).to.equal(200);
      expect((await remove(config.id)).body).to.deep.equal({});
      expect((await rawMcp(configs.server, config.id, { token })).status).to.equal(401);
    });

    it('allows its connections to be deleted, which it prevented before', async () => {
      const { id } = await createConnection(configs.server, { connector: 'notion' });
      const { config } = (await configs.create({ name: 'Keeps notion', mappings: [{ connection_id: id }] })).body;
      const rejected = await configs.server.call('DELETE', `/api/v1/connections/${id}`);
      expect(rejected.body).to.include({ status: 409, code: 'CONNECTION_IN_USE' });
      expect(rejected.body.detail).to.contain('Keeps notion');
      await remove(config.id);
      expect((await configs.server.call('DELETE', `/api/v1/connections/${id}`)).status).to.equal(200);
    });
  });

  describe('404', () => {
    it('is returned for an unknown id, and for a deleted one', async () => {
      expect((await remove(unknownId('mcp'))).body).to.include({ status: 404, code: 'NOT_FOUND' });
      const { config } = (await configs.create()).body;
      expect((await remove(config.id)).status).to.equal(200);
      expect((await remove(config.id)).status).to.equal(404);
    });
  });
});
