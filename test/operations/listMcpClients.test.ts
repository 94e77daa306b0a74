import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/mcp/clients';

describe('listMcpClients', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
    for (const name of ['One', 'Two', 'Three']) {
      const body = { name, redirect_uris: ['https://chat.example/callback'] };
      expect((await server.call('POST', PATH, { body })).status).to.equal(201);
    }
  });
  after(() => server.stop());

  describe('200', () => {
    it('lists the newest first, in pages', async () => {
      const pages = await walkPages(server, `${PATH}?page_size=2`, 'clients');
      expect(pages.map((page) => page.map(({ name }) => name))).to.deep.equal([['Three', 'Two'], ['One']]);
    });
  });

  describe('400', () => {
    it('for a page token of another list', async () => {
      const { body } = await server.call('GET', `${PATH}?page_size=1`);
      const answer = await server.call('GET', `/api/v1/mcp/grants?page_token=${body.next_page_token}`);
      expect(answer.body).to.include({ status: 400, code: 'INVALID_PAGE_TOKEN' });
    });
  });
});
