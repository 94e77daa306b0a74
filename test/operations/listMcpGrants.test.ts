import { expect } from 'chai';
import { ADA, type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';
import { walkPages } from '../support/pages.ts';

const PATH = '/api/v1/mcp/grants';

describe('listMcpGrants', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
    await world.tokens();
    await world.tokens({}, { user_id: 'user_bob', identifier: 'bob' });
    await world.tokens({ scope: 'tools:read' }, { organization_id: 'org_acme', identifier: 'team' });
  });
  after(() => world.stop());

  describe('200', () => {
    it('returns the user, the client and the server of each grant', async () => {
      const [grant] = await world.grants('?user_id=user_ada');
      const at = new Date(world.clock.now()).toISOString();
      expect(grant).to.deep.equal({
        id: grant?.id,
        client: {
          id: world.documents.clientId,
          name: 'Document Client',
          kind: 'DOCUMENT',
          redirect_host: 'client.example',
        },
        server_id: world.serverId,
        user: ADA,
        scopes: ['tools:read', 'tools:call'],
        created_at: at,
        last_used_at: at,
        expires_at: new Date(world.clock.now() + 30 * 86_400_000).toISOString(),
      });
    });

    it('filters by user, organization, client and server, in any combination', async () => {
      const client = encodeURIComponent(world.documents.clientId);
      const names = async (query: string) =>
        (await world.grants(query)).map(({ user }) => (user as typeof ADA).identifier);
      expect(await names('?user_id=user_bob')).to.deep.equal(['bob']);
      expect(await names('?organization_id=org_acme')).to.deep.equal(['team', 'ada@acme.test']);
      expect(await names('?organization_id=org_acme&identifier=team')).to.deep.equal(['team']);
      expect(await names(`?client_id=${client}&server_id=${world.serverId}`)).to.have.lengthOf(3);
      expect(await names('?client_id=ocl_other')).to.deep.equal([]);
      expect(await names('?server_id=conn_other&user_id=user_bob')).to.deep.equal([]);
    });

    it('returns pages', async () => {
      const pages = await walkPages(world.server, `${PATH}?page_size=2`, 'grants');
      expect(pages.map(({ length }) => length)).to.deep.equal([2, 1]);
    });
  });

  describe('400', () => {
    it('for a page token with other filters', async () => {
      const { body } = await world.server.call('GET', `${PATH}?page_size=1`);
      const answer = await world.server.call('GET', `${PATH}?user_id=user_bob&page_token=${body.next_page_token}`);
      expect(answer.body).to.include({ status: 400, code: 'INVALID_PAGE_TOKEN' });
    });
  });
});
