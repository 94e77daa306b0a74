import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/tools';

interface Listed {
  name: string;
  connector: string;
  tags: string[];
  hints: { read_only: boolean };
}

describe('listTools', () => {
  let server: TestServer;

  const list = async (query: string) => {
    const answer = await server.call('GET', `${PATH}?page_size=100&${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body.tools as Listed[];
  };
  const names = (tools: Listed[]) => tools.map((tool) => tool.name);

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('lists the tools of all connectors by name, page by page', async () => {
      const pages = await walkPages(server, `${PATH}?page_size=40`, 'tools');
      const tools = pages.flat() as Listed[];
      expect(names(tools)).to.deep.equal(names(tools).toSorted());
      expect(new Set(tools.map((tool) => tool.connector)).size).to.be.at.least(10);
    });

    it('gives a model what it needs: closed input schemas, output schemas and hints', async () => {
      for (const tool of (await list('connector=github&detail=full')) as unknown as Record<string, unknown>[]) {
        expect(tool['input_schema'], String(tool['name'])).to.include({ type: 'object', additionalProperties: false });
        expect(tool).to.include.keys('description', 'output_schema', 'hints', 'scopes', 'paginated');
      }
    });

    it('combines filters', async () => {
      const tools = await list('connector=github&read_only=true&tag=issues');
      expect(names(tools)).to.include('github_list_issues').and.not.to.include('github_create_issue');
      for (const tool of tools) {
        expect(tool).to.include({ connector: 'github' });
        expect(tool.tags).to.include('issues');
        expect(tool.hints.read_only).to.equal(true);
      }
      expect(names(await list('connector=github&read_only=false'))).to.include('github_create_issue');
      expect(await list('connector=unknown')).to.deep.equal([]);
    });

    it('puts the best fit of a query first, on every page', async () => {
      const [first] = await list('query=create issue&connector=github');
      expect(first?.name).to.equal('github_create_issue');
      const pages = await walkPages(server, `${PATH}?query=issue&connector=linear&page_size=3`, 'tools');
      expect(names(pages.flat() as Listed[])).to.deep.equal(names(await list('query=issue&connector=linear')));
    });

    it('finds nothing for words that no tool has', async () => {
      expect(await list('query=xyzzy')).to.deep.equal([]);
    });
  });

  describe('400', () => {
    it('refuses a page token of another query', async () => {
      const { next_page_token: token } = (await server.call('GET', `${PATH}?query=issue&page_size=1`)).body;
      const answer = await server.call(
        'GET',
        `${PATH}?query=message&page_size=1&page_token=${encodeURIComponent(token)}`,
      );
      expect(answer.body.code).to.equal('INVALID_PAGE_TOKEN');
    });

    for (const query of ['page_size=101', 'read_only=perhaps', 'query=', 'name=github_get_issue', 'connector=a/b']) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await server.call('GET', `${PATH}?${query}`);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(query.split('=')[0]);
      });
    }
  });
});
