import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { type LoginWorld, REDIRECT_URI, startLoginWorld } from '../support/mcp-login.ts';

describe('deleteMcpClient', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
  });
  after(() => world.stop());

  describe('200', () => {
    it('deletes the client and ends the grants to it, and no others', async () => {
      const { server } = world;
      const body = { name: 'Acme Chat', redirect_uris: [REDIRECT_URI] };
      const client_id = (await server.call('POST', '/api/v1/mcp/clients', { body })).body.client.id;
      const tokens = (await world.exchange(await world.login({ client_id }), { client_id })).body;
      const others = await world.tokens();
      expect((await world.listTools(tokens.access_token)).status).to.equal(200);
      const answer = await server.call('DELETE', `/api/v1/mcp/clients/${client_id}`);
      expect([answer.status, answer.body]).to.deep.equal([200, {}]);
      expect((await world.listTools(tokens.access_token)).status).to.equal(401);
      expect((await world.refresh(tokens.refresh_token, { client_id })).body.error).to.equal('invalid_client');
      expect((await world.listTools(others.access_token)).status).to.equal(200);
      const actions = (await auditOf(server, client_id)).map(({ action }) => action);
      expect(actions).to.deep.equal(['mcp_client.deleted', 'mcp_client.created']);
    });
  });

  describe('404', () => {
    it('for a client that does not exist', async () => {
      const answer = await world.server.call('DELETE', '/api/v1/mcp/clients/ocl_unknown');
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
