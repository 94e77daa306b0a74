import { expect } from 'chai';
import { LIST } from '../../core/budgets.ts';
import { readWithin } from '../../core/discovery/read-within.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { walkPages } from '../support/pages.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { firstEnvironment } from '../support/tokens.ts';

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

    it('returns what a model needs: closed input schemas, output schemas and hints', async () => {
      for (const tool of (await list('connector=github&detail=full')) as unknown as Record<string, unknown>[]) {
        expect(tool['input_schema'], String(tool['name'])).to.include({ type: 'object', additionalProperties: false });
        expect(tool).to.include.keys('description', 'output_schema', 'hints', 'scopes', 'paginated');
      }
    });

    describe('F6: of tools with large schemas', () => {
      const COUNT = 40;
      let connector: string;
      let largest: string[];

      before(async () => {
        connector = (await createProvider(server)).identifier;
        const input_schema = { type: 'object', description: 'x'.repeat(60_000) };
        const own = Array.from({ length: COUNT }, (_, index) => {
          return ownTool(connector, `${connector.replaceAll('-', '_')}_large_${index + 10}`, { input_schema });
        });
        await storeTools(server, own);
        largest = own.map(({ name }) => name);
      });

      /** Follows one kind of page token to the last page. */
      async function walk(query: string, member: 'next_page_token' | 'prev_page_token', from = '') {
        const pages: { names: string[]; size: number }[] = [];
        for (let token = from; token !== '' || pages.length === 0; ) {
          const answer = await server.call('GET', `${PATH}?connector=${connector}&page_size=100&${query}${token}`);
          expect(answer.status, answer.text).to.equal(200);
          expect(answer.body.total_size).to.equal(COUNT);
          pages.push({ names: names(answer.body.tools), size: answer.text.length });
          token = answer.body[member] && `&page_token=${encodeURIComponent(answer.body[member])}`;
          if (member === 'next_page_token' && token === '') last = answer.body.prev_page_token;
        }
        return pages;
      }
      let last = '';

      it('ends pages early, and omits no tool in both directions', async () => {
        for (const query of ['detail=full', 'format=anthropic', 'format=gemini', 'format=mcp']) {
          const forth = await walk(query, 'next_page_token');
          expect(forth.length, query).to.be.at.least(3);
          for (const { size } of forth) expect(size).to.be.below(1.2 * LIST.toolsBytes);
          expect(forth.flatMap((page) => page.names)).to.deep.equal(largest);
          const back = await walk(query, 'prev_page_token', `&page_token=${encodeURIComponent(last)}`);
          for (const { size } of back) expect(size).to.be.below(1.2 * LIST.toolsBytes);
          const before = back.toReversed().flatMap((page) => page.names);
          expect([...before, ...(forth.at(-1)?.names ?? [])]).to.deep.equal(largest);
        }
      });

      it('returns all of them without their schemas', async () => {
        expect(names(await list(`connector=${connector}`))).to.deep.equal(largest);
      });

      it('lets other work run while they are read', async () => {
        let turns = 0;
        let isRunning = true;
        const count = () => {
          turns += 1;
          if (isRunning) setImmediate(count);
        };
        const { read } = server.parts.store;
        const { id } = await firstEnvironment(server);
        setImmediate(count);
        await readWithin(
          largest,
          async (name) => {
            const known = await server.parts.toolDirectory.find(read, id, name);
            return known && { item: name, tool: known.tool };
          },
          Number.POSITIVE_INFINITY,
        );
        isRunning = false;
        expect(turns).to.be.at.least(Math.floor((COUNT * 60_000) / LIST.toolsTurnBytes) / 2);
      });
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

    it('ranks the best match of a query first, on every page', async () => {
      const [first] = await list('query=create issue&connector=github');
      expect(first?.name).to.equal('github_create_issue');
      const pages = await walkPages(server, `${PATH}?query=issue&connector=linear&page_size=3`, 'tools');
      expect(names(pages.flat() as Listed[])).to.deep.equal(names(await list('query=issue&connector=linear')));
    });

    it('returns nothing for words that no tool has', async () => {
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
