import { expect } from 'chai';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/tools';

describe('getTool', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('answers one tool with its schemas', async () => {
      const answer = await server.call('GET', `${PATH}/github_list_issues`);
      expect(answer.status).to.equal(200);
      expect(answer.body.tool).to.deep.include({
        name: 'github_list_issues',
        connector: 'github',
        paginated: true,
        hints: { read_only: true, destructive: false, idempotent: true, open_world: true },
        scopes: [['repo'], ['public_repo']],
      });
      expect(answer.body.tool.input_schema.required).to.deep.equal(['owner', 'repo']);
    });

    it('does not show how the request is made', async () => {
      const answer = await server.call('GET', `${PATH}/github_list_issues`);
      expect(answer.body.tool).not.to.have.any.keys('request', 'response', 'pagination', 'examples', 'errors');
    });
  });

  describe('404', () => {
    for (const name of ['github_fly', 'constructor', '__proto__', 'GITHUB_LIST_ISSUES', 'github_list_issues%20']) {
      it(`does not know ${name}`, async () => {
        const answer = await server.call('GET', `${PATH}/${name}`);
        expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
      });
    }
  });
});
