import { expect } from 'chai';
import { MCP_CONFIGS_PATH as PATH, useMcpConfigs } from '../support/mcp-configs.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';

describe('listMcpConfigs', () => {
  const configs = useMcpConfigs();

  describe('200', () => {
    it('returns pages of configs, the newest first', async () => {
      const older = (await configs.create()).body.config;
      const newer = (await configs.create()).body.config;
      const first = await configs.server.call('GET', `${PATH}?page_size=1`);
      expect(first.status).to.equal(200);
      expect(first.body.configs).to.deep.equal([newer]);
      const second = await configs.server.call('GET', `${PATH}?page_size=1&page_token=${first.body.next_page_token}`);
      expect(second.body.configs).to.deep.equal([older]);
      expect(second.body.total_size).to.equal(first.body.total_size);
    });

    it('returns no configs of another environment', async () => {
      await configs.create();
      const other = await addSecondEnvironment(configs.server);
      expect((await other.call('GET', PATH)).body.configs).to.deep.equal([]);
    });
  });

  describe('400', () => {
    it('rejects a forged page token', async () => {
      const response = await configs.server.call('GET', `${PATH}?page_token=unknown`);
      expect(response.body).to.include({ status: 400, code: 'INVALID_PAGE_TOKEN' });
    });
  });
});
