import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { rawMcp, sessionToken } from '../support/mcp.ts';
import { type McpConfigs, MCP_CONFIGS_PATH as PATH, startMcpConfigs } from '../support/mcp-configs.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

describe('deleteMcpConfig', () => {
  let server: TestServer;
  let create: McpConfigs['create'];

  before(async () => {
    ({ server, create } = await startMcpConfigs());
  });
  after(() => server.stop());

  const remove = (id: string) => server.call('DELETE', `${PATH}/${id}`);

  describe('200', () => {
    it('ends the address and its session tokens immediately', async () => {
      const { config } = (await create()).body;
      const token = await sessionToken(server, config.id);
      expect((await rawMcp(server, config.id, { token })).status).to.equal(200);
      expect((await remove(config.id)).body).to.deep.equal({});
      expect((await rawMcp(server, config.id, { token })).status).to.equal(401);
    });

    it('lets its connections be deleted, which it prevented before', async () => {
      const { id } = await createConnection(server, { connector: 'notion' });
      const { config } = (await create({ name: 'Keeps notion', mappings: [{ connection_id: id }] })).body;
      const rejected = await server.call('DELETE', `/api/v1/connections/${id}`);
      expect(rejected.body).to.include({ status: 409, code: 'CONNECTION_IN_USE' });
      expect(rejected.body.detail).to.contain('Keeps notion');
      await remove(config.id);
      expect((await server.call('DELETE', `/api/v1/connections/${id}`)).status).to.equal(200);
    });
  });

  describe('404', () => {
    it('is the response to an unknown id, and to one that was deleted', async () => {
      expect((await remove(unknownId('mcp'))).body).to.include({ status: 404, code: 'NOT_FOUND' });
      const { config } = (await create()).body;
      expect((await remove(config.id)).status).to.equal(200);
      expect((await remove(config.id)).status).to.equal(404);
    });
  });
});
