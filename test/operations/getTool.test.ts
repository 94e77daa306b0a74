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
    it('returns one tool with its schemas', async () => {
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

    it('does not return the request of the tool', async () => {
      const answer = await server.call('GET', `${PATH}/github_list_issues`);
      expect(answer.body.tool).not.to.have.any.keys('request', 'response', 'pagination', 'examples', 'errors');
    });

    it('returns examples whose inputs are valid for the tool, in the native format', async () => {
      const { body } = await server.call('GET', `${PATH}/github_list_issues`);
      expect(body.examples[0].input).to.include.keys('owner', 'repo');
      expect(body.examples[0].note).to.be.a('string');
      expect((await server.call('GET', `${PATH}/github_list_issues?format=mcp`)).body).to.have.all.keys('tool');
    });

    it('returns the format of the Gemini API', async () => {
      const { tool } = (await server.call('GET', `${PATH}/github_list_issues?format=gemini`)).body;
      expect(tool).to.have.all.keys('name', 'description', 'parameters');
      expect(tool.parameters).to.deep.include({ type: 'OBJECT', required: ['owner', 'repo'] });
    });

    it('returns the strict format of the OpenAI API', async () => {
      const { tool } = (await server.call('GET', `${PATH}/github_list_issues?format=openai&strict=true`)).body;
      expect(tool.function.strict).to.equal(true);
      const { parameters } = tool.function;
      expect(parameters.required).to.deep.equal(Object.keys(parameters.properties));
    });
  });

  describe('400', () => {
    for (const path of [
      `${PATH}/github_list_issues`,
      PATH,
      `${PATH}:scoped?user_id=ada`,
      `${PATH}:search?query=issue`,
    ]) {
      it(`rejects strict with another format (${path})`, async () => {
        const separator = path.includes('?') ? '&' : '?';
        expect((await server.call('GET', `${path}${separator}format=openai&strict=true`)).status).to.equal(200);
        for (const format of ['', '&format=gemini']) {
          const { body } = await server.call('GET', `${path}${separator}strict=true${format}`);
          expect(body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
          expect(body.errors).to.deep.equal([{ field: 'strict', message: 'needs format=openai' }]);
        }
      });
    }
  });

  describe('404', () => {
    for (const name of ['github_fly', 'constructor', '__proto__', 'GITHUB_LIST_ISSUES', 'github_list_issues%20']) {
      it(`rejects ${name}`, async () => {
        const answer = await server.call('GET', `${PATH}/${name}`);
        expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
      });
    }
  });
});
