import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { MCP_CONFIGS_PATH as PATH, useMcpConfigs } from '../support/mcp-configs.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';

describe('getMcpConfig', () => {
  const configs = useMcpConfigs();

  describe('200', () => {
    it('returns the config as it was created', async () => {
      const { config } = (await configs.create()).body;
      const response = await configs.server.call('GET', `${PATH}/${config.id}`);
      expect(response.status).to.equal(200);
      expect(response.body).to.deep.equal({ config });
    });
  });

  describe('404', () => {
    it('is returned for an unknown id', async () => {
      const response = await configs.server.call('GET', `${PATH}/${unknownId('mcp')}`);
      expect(response.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });

    it('is returned for the id of a config in another environment', async () => {
      const { config } = (await configs.create()).body;
      const other = await addSecondEnvironment(configs.server);
      expect((await other.call('GET', `${PATH}/${config.id}`)).status).to.equal(404);
      expect((await configs.server.call('GET', `${PATH}/${config.id}`)).status).to.equal(200);
    });
  });
});
