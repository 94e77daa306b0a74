import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { ownTool, storeTools } from '../support/own-tools.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/tools:search';

describe('searchTools', () => {
  let server: TestServer;

  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every format
  const search = async (query: string, more = 'user_id=ada'): Promise<any[]> => {
    const answer = await server.call('GET', `${PATH}?query=${encodeURIComponent(query)}&${more}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.body.hits;
  };

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('ranks the matching tool first, READY with the account to call it with', async () => {
      const { id } = await createAccount(server, { userId: 'ada', identifier: 'ada@acme.test' });
      const [first] = await search('open a new issue on github');
      expect(first).to.deep.include({
        readiness: 'READY',
        connector: 'github',
        connected_account_id: id,
        missing_scopes: [],
        next_step: null,
      });
      expect(first.tool).to.include({ name: 'github_create_issue' }).and.not.to.have.property('input_schema');
    });

    it('returns the request for a link to get an account, with the known values', async () => {
      await createConnection(server, { connector: 'linear', key_id: 'linear', client_id: 'c', client_secret: 's' });
      const [first] = await search('create a linear issue', 'user_id=ada&organization_id=org&identifier=ada@acme.test');
      expect(first).to.deep.include({ readiness: 'NEEDS_CONNECTION', connected_account_id: null });
      expect(first.next_step).to.deep.include({
        operation_id: 'generateMagicLink',
        arguments: { connector: 'linear', identifier: 'ada@acme.test', organization_id: 'org', user_id: 'ada' },
      });
      const body = { ...first.next_step.arguments, user_verify_url: 'https://app.example/verify' };
      const link = await server.call('POST', '/api/v1/connected_accounts/magic_link', { body });
      expect(link.body.errors?.[0]?.field ?? 'link', link.text).to.be.oneOf(['link', 'user_verify_url']);
    });

    it('names a missing connection and the operation of the operator', async () => {
      const [first] = await search('send a message to a slack channel');
      expect(first.readiness).to.equal('NEEDS_CONNECTION');
      expect(first.next_step).to.deep.include({ operation_id: 'createConnection', arguments: { connector: 'slack' } });
    });

    it('omits tools that every connection forbids, and disabled ones', async () => {
      const { id } = await createConnection(server, { connector: 'stripe', allowed_tools: ['stripe_get_balance'] });
      const names = async () => (await search('refund a stripe payment')).map(({ tool }) => tool.name);
      expect(await names()).not.to.include('stripe_create_refund');
      await server.call('PUT', `/api/v1/connections/${id}`, { body: { allowed_tools: null } });
      expect((await names())[0]).to.equal('stripe_create_refund');
      await server.call('POST', `/api/v1/connections/${id}:disable`);
      expect(await names()).not.to.include('stripe_create_refund');
    });

    it("finds the environment's own tools as soon as they exist, and no longer when they were deleted", async () => {
      const provider = await createProvider(server, { display_name: 'Greenhouse' });
      const found = async () => (await search('water the orchids of the greenhouse'))[0]?.tool.name;
      expect(await found()).not.to.equal('greenhouse_water_orchids');
      await storeTools(server, [
        ownTool(provider.identifier, 'greenhouse_water_orchids', { title: 'Water orchids', tags: ['orchids'] }),
      ]);
      expect(await found()).to.equal('greenhouse_water_orchids');
      const second = await addSecondEnvironment(server);
      const foreign = await second.call('GET', `${PATH}?query=water%20orchids&user_id=ada`);
      expect(foreign.text).not.to.include('greenhouse_water_orchids');
      await server.call('DELETE', '/api/v1/tools/greenhouse_water_orchids');
      expect(await found()).not.to.equal('greenhouse_water_orchids');
    });

    it("is limited to a connector and a number, and returns the format of the caller's model", async () => {
      const hits = await search('issue', 'user_id=ada&connector=linear&limit=3&format=anthropic');
      expect(hits).to.have.length(3);
      for (const { tool } of hits) expect(tool).to.have.all.keys('name', 'description', 'input_schema');
    });

    it('X20: finds tools without a user, and then returns no readiness', async () => {
      await createAccount(server, { userId: 'grace', identifier: 'grace@acme.test' });
      const hits = await search('open a new issue on github', 'limit=5');
      expect(hits).to.have.length(5);
      for (const hit of hits) expect(hit).to.have.all.keys('tool', 'connector');
      expect(hits[0]).to.deep.include({ connector: 'github' });
      const named = await search('open a new issue on github', 'limit=5&user_id=grace');
      expect(named.map(({ tool }) => tool.name)).to.have.members(hits.map(({ tool }) => tool.name));
      expect(named[0]).to.include({ readiness: 'READY' });
    });

    it('returns nothing for words that match no tool', async () => {
      expect(await search('xyzzy plugh')).to.deep.equal([]);
    });
  });

  describe('400', () => {
    it('VALIDATION_FAILED for a parameter that is repeated', async () => {
      const { body } = await server.call('GET', `${PATH}?query=issue&user_id=ada&user_id=eve&limit=1&limit=2`);
      expect(body.errors).to.have.deep.members([
        { field: 'user_id', message: 'must not be repeated' },
        { field: 'limit', message: 'must not be repeated' },
      ]);
    });

    it('INCOMPLETE_ACCOUNT_KEY for an identifier without its user', async () => {
      const { body } = await server.call('GET', `${PATH}?query=issue&identifier=ada`);
      expect(body.code).to.equal('INCOMPLETE_ACCOUNT_KEY');
    });

    for (const query of [
      'query=a',
      'limit=0&query=issue',
      'limit=51&query=issue',
      'format=xml&query=issue',
      'user_id=u',
    ]) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await server.call('GET', `${PATH}?${query}`);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(query.startsWith('user_id') ? 'query' : query.split('=')[0]);
      });
    }
  });
});
