import { expect } from 'chai';
import { walkPages } from '../support/pages.ts';
import { createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/providers';

interface Listed {
  identifier: string;
  display_name: string;
  description: string;
  is_custom: boolean;
  display_priority: number;
}

describe('listProviders', () => {
  let server: TestServer;

  const list = async (query = '') => {
    const answer = await server.call('GET', `${PATH}?page_size=100${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body.providers as Listed[];
  };
  const names = (providers: Listed[]) => providers.map((provider) => provider.identifier);

  before(async () => {
    server = await startTestServer();
    await createProvider(server, { display_name: 'First', description: 'A calendar of its own' });
    await createProvider(server, { display_name: 'Second' });
  });
  after(() => server.stop());

  describe('200', () => {
    it('lists custom providers first, newest first, then built-in ones by priority', async () => {
      const providers = await list();
      expect(names(providers).slice(0, 2)).to.deep.equal(['second', 'first']);
      const builtIn = providers.slice(2);
      expect(builtIn.every((provider) => !provider.is_custom)).to.equal(true);
      expect(builtIn.length).to.be.at.least(10);
      const sorted = builtIn.toSorted(
        (a, b) => b.display_priority - a.display_priority || (a.identifier < b.identifier ? -1 : 1),
      );
      expect(names(builtIn)).to.deep.equal(names(sorted));
    });

    it('tells custom from built-in providers', async () => {
      expect(names(await list('&is_custom=true'))).to.deep.equal(['second', 'first']);
      expect(names(await list('&is_custom=false')))
        .to.include('github')
        .and.not.to.include('first');
    });

    it('searches identifier, name and description, case-insensitively', async () => {
      const found = names(await list('&query=CALENDAR'));
      const fitting = (await list()).filter((one) =>
        `${one.identifier}\n${one.display_name}\n${one.description}`.toLowerCase().includes('calendar'),
      );
      expect(found).to.deep.equal(names(fitting));
      expect(found).to.include('first').and.to.include('google_calendar').and.not.to.include('github');
      expect(names(await list('&query=calendar&is_custom=true'))).to.deep.equal(['first']);
      expect(await list('&query=%25')).to.deep.equal([]);
    });

    it('pages in both directions', async () => {
      const pages = await walkPages(server, `${PATH}?page_size=5`, 'providers');
      // A list without pages has at most 100 entries, and the pages together have all entries.
      expect(names(pages.flat() as Listed[]).slice(0, 100)).to.deep.equal(names(await list()));
    });

    it('returns no custom provider of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      const answer = await other.call('GET', `${PATH}?is_custom=true`);
      expect(answer.body).to.deep.include({ providers: [], total_size: 0 });
    });
  });

  describe('400', () => {
    it('refuses a page token of other filters', async () => {
      const { next_page_token: token } = (await server.call('GET', `${PATH}?page_size=1`)).body;
      const answer = await server.call(
        'GET',
        `${PATH}?page_size=1&is_custom=false&page_token=${encodeURIComponent(token)}`,
      );
      expect(answer.body.code).to.equal('INVALID_PAGE_TOKEN');
    });

    for (const query of ['page_size=0', 'is_custom=yes', 'query=', 'category=crm']) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await server.call('GET', `${PATH}?${query}`);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(query.split('=')[0]);
      });
    }
  });
});
