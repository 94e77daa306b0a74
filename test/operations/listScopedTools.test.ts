import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { walkPages } from '../support/pages.ts';
import { createConnection } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/tools:scoped';

describe('listScopedTools', () => {
  let server: TestServer;

  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every format
  const list = async (query: string): Promise<any[]> => {
    const answer = await server.call('GET', `${PATH}?page_size=100&${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body.tools;
  };

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it("lists the tools that a user's accounts can call, each with those accounts", async () => {
      const account = await createAccount(server, { userId: 'ada', identifier: 'ada@acme.test' });
      const tools = await list('user_id=ada');
      expect(new Set(tools.map(({ tool }) => tool.connector))).to.deep.equal(new Set(['github']));
      for (const { accounts } of tools) {
        expect(accounts).to.deep.equal([
          {
            connected_account_id: account.id,
            connector: 'github',
            identifier: 'ada@acme.test',
            organization_id: '',
            user_id: 'ada',
          },
        ]);
      }
    });

    it('includes only tools that the connections allow', async () => {
      await createConnection(server, { key_id: 'narrow', type: 'BEARER_TOKEN', allowed_tools: ['github_get_issue'] });
      await createAccount(server, { connector: 'narrow', userId: 'bob' });
      expect((await list('user_id=bob')).map(({ tool }) => tool.name)).to.deep.equal(['github_get_issue']);
    });

    it('returns at most max_listed_tools of each connection, the same ones on every page', async () => {
      await createConnection(server, { key_id: 'issues', type: 'BEARER_TOKEN', allowed_tools: ['github_get_issue'] });
      await createAccount(server, { connector: 'issues', userId: 'few' });
      await createAccount(server, { userId: 'few' });
      const names = (tools: { tool: { name: string } }[]) => tools.map(({ tool }) => tool.name);
      const all = names(await list('user_id=few&connector=github'));
      expect(all).to.have.length(100);
      const chosen = names(await list('user_id=few&max_listed_tools=12'));
      expect(chosen).to.include('github_get_issue');
      expect(chosen.length).to.be.within(12, 13);
      expect(chosen).to.deep.equal([...chosen].sort());
      const pages = await walkPages(server, `${PATH}?user_id=few&max_listed_tools=12&page_size=5`, 'tools');
      expect(names(pages.flat())).to.deep.equal(chosen);
    });

    it('is empty for an unknown user, another identifier, and in another environment', async () => {
      await createAccount(server, { userId: 'eve', identifier: 'eve-1' });
      expect(await list('user_id=stranger')).to.deep.equal([]);
      expect(await list('user_id=eve&identifier=eve-2')).to.deep.equal([]);
      expect(await list('user_id=eve&organization_id=org')).to.deep.equal([]);
      expect((await list('user_id=eve&identifier=eve-1')).length).to.be.above(10);
      const second = await addSecondEnvironment(server);
      expect((await second.call('GET', `${PATH}?user_id=eve`)).body.tools).to.deep.equal([]);
    });

    it('returns pages, filtered by connector and in the requested format', async () => {
      await createAccount(server, { userId: 'joe' });
      const pages = await walkPages(server, `${PATH}?user_id=joe&page_size=70&connector=github&format=openai`, 'tools');
      // biome-ignore lint/suspicious/noExplicitAny: as above
      const names = (pages.flat() as any[]).map(({ tool }) => tool.function.name);
      const catalogue = server.parts.catalogue.toolNames('github');
      expect(pages.length).to.be.above(1);
      expect(names).to.deep.equal(catalogue);
      expect(await list('user_id=joe&connector=slack')).to.deep.equal([]);
    });
  });

  describe('400', () => {
    it('VALIDATION_FAILED for a max_listed_tools that is not between 1 and 1000', async () => {
      for (const value of ['0', '1001', '1.5', 'all', '']) {
        const { body } = await server.call('GET', `${PATH}?user_id=ada&max_listed_tools=${value}`);
        expect(body, value).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(body.errors[0].field).to.include('max_listed_tools');
      }
    });

    it('INCOMPLETE_ACCOUNT_KEY without a user', async () => {
      const answer = await server.call('GET', `${PATH}?identifier=ada@acme.test`);
      expect(answer.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
      expect(answer.body.errors[0].field).to.equal('organization_id');
    });
  });
});
