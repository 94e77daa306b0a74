import { expect } from 'chai';
import { type McpConfigs, MCP_CONFIGS_PATH as PATH, startMcpConfigs } from '../support/mcp-configs.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';

describe('listMcpConfigs', () => {
  let server: TestServer;
  let create: McpConfigs['create'];

  before(async () => {
    ({ server, create } = await startMcpConfigs());
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns pages of configs, the newest first', async () => {
      const older = (await create()).body.config;
      const newer = (await create()).body.config;
      const first = await server.call('GET', `${PATH}?page_size=1`);
      expect(first.status).to.equal(200);
      expect(first.body.configs).to.deep.equal([newer]);
      const second = await server.call('GET', `${PATH}?page_size=1&page_token=${first.body.next_page_token}`);
      expect(second.body.configs).to.deep.equal([older]);
      expect(second.body.total_size).to.equal(first.body.total_size);
    });

    it('returns configs of its own environment alone', async () => {
      await create();
      const other = await addSecondEnvironment(server);
      expect((await other.call('GET', PATH)).body.configs).to.deep.equal([]);
    });
  });

  describe('400', () => {
    it('rejects a page token that no list returned', async () => {
      const response = await server.call('GET', `${PATH}?page_token=unknown`);
      expect(response.body).to.include({ status: 400, code: 'INVALID_PAGE_TOKEN' });
    });
  });
});
