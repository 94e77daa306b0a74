import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { type McpConfigs, MCP_CONFIGS_PATH as PATH, startMcpConfigs } from '../support/mcp-configs.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';

describe('getMcpConfig', () => {
  let server: TestServer;
  let create: McpConfigs['create'];

  before(async () => {
    ({ server, create } = await startMcpConfigs());
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns the config as it was created', async () => {
      const { config } = (await create()).body;
      const response = await server.call('GET', `${PATH}/${config.id}`);
      expect(response.status).to.equal(200);
      expect(response.body).to.deep.equal({ config });
    });
  });

  describe('404', () => {
    it('is the response to an unknown id', async () => {
      const response = await server.call('GET', `${PATH}/${unknownId('mcp')}`);
      expect(response.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });

    it('is the response to the id of a config in another environment', async () => {
      const { config } = (await create()).body;
      const other = await addSecondEnvironment(server);
      expect((await other.call('GET', `${PATH}/${config.id}`)).status).to.equal(404);
      expect((await server.call('GET', `${PATH}/${config.id}`)).status).to.equal(200);
    });
  });
});
