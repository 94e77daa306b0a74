import { expect } from 'chai';
import { ownTool, storeTools, toolBody } from '../support/own-tools.ts';
import { createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/tools';

describe('updateTool', () => {
  let server: TestServer;
  let connector: string;
  let made = 0;

  const update = (name: string, body: Record<string, unknown>) => server.call('PUT', `${PATH}/${name}`, { body });
  const tool = async (over: Parameters<typeof toolBody>[2] = {}) => {
    made += 1;
    const description = `Reads thing number ${made} of the many that there are. Changes nothing.`;
    const body = toolBody(connector, `mine_get_thing_${made}`, { description, ...over });
    const answer = await server.call('POST', PATH, { body });
    expect(answer.status, answer.text).to.equal(201);
    return answer.body.definition as Record<string, unknown> & { name: string };
  };

  before(async () => {
    server = await startTestServer();
    connector = (await createProvider(server, { display_name: 'Mine' })).identifier;
  });
  after(() => server.stop());

  describe('200', () => {
    it('changes the given fields, and keeps the rest', async () => {
      const before = await tool();
      const answer = await update(before.name, { title: 'Another title', tags: ['other'] });
      expect(answer.status, answer.text).to.equal(200);
      expect(answer.body.definition).to.deep.equal({ ...before, title: 'Another title', tags: ['other'] });
      const { examples } = answer.body.definition;
      expect((await server.call('GET', `${PATH}/${before.name}`)).body).to.deep.equal({ ...answer.body, examples });
    });

    it('clears an optional member with null', async () => {
      const { name } = await tool({ response: { max_bytes: 2048 }, search_words: 'money back' });
      const answer = await update(name, { response: null, search_words: null });
      expect(answer.body.definition).not.to.have.any.keys('response', 'search_words');
    });
  });

  describe('400', () => {
    it('INVALID_TOOL when the result would break a rule, and nothing is changed', async () => {
      const before = await tool();
      const answer = await update(before.name, { request: { method: 'GET', path: '/other/{id}' } });
      expect(answer.body).to.include({ status: 400, code: 'INVALID_TOOL' });
      expect((await server.call('GET', `${PATH}/${before.name}`)).body.definition).to.deep.equal(before);
    });

    for (const body of [{ name: 'mine_other' }, { connector: 'github' }, {}]) {
      it(`VALIDATION_FAILED for ${JSON.stringify(body)}`, async () => {
        const { name } = await tool();
        expect((await update(name, body)).body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      });
    }
  });

  describe('404', () => {
    it('rejects an unknown tool', async () => {
      expect((await update('mine_get_nothing', { title: 'Another' })).body.code).to.equal('NOT_FOUND');
    });
  });

  describe('409', () => {
    it('TOOL_READ_ONLY for fields that the catalogue or a source determines', async () => {
      await storeTools(server, [ownTool(connector, 'mine_imported')], { source: 'import', sourceId: 'getThing' });
      for (const name of ['github_create_issue', 'mine_imported']) {
        expect((await update(name, { title: 'Another' })).body, name).to.include({
          status: 409,
          code: 'TOOL_READ_ONLY',
        });
      }
    });
  });
});
