import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';

describe('revokeMcpGrant', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
  });
  after(() => world.stop());

  const revoke = (id: string) => world.server.call('POST', `/api/v1/mcp/grants/${id}:revoke`);

  describe('200', () => {
    it('ends the grant from the next request, and records the reason', async () => {
      const tokens = await world.tokens();
      const [grant] = await world.grants();
      const id = grant?.id as string;
      expect((await world.listTools(tokens.access_token)).status).to.equal(200);
      expect((await revoke(id)).status).to.equal(200);
      expect((await world.listTools(tokens.access_token)).status).to.equal(401);
      expect((await world.refresh(tokens.refresh_token)).body.error).to.equal('invalid_grant');
      expect(await world.grants()).to.deep.equal([]);
      const [ended, created] = await auditOf(world.server, id);
      expect([ended?.action, ended?.details]).to.deep.equal(['mcp_grant.revoked', { reason: 'REVOKED_BY_API' }]);
      expect(created?.action).to.equal('mcp_grant.created');
    });
  });

  describe('404', () => {
    it('for a grant that does not exist, or was revoked', async () => {
      await world.tokens();
      const [grant] = await world.grants();
      await revoke(grant?.id as string);
      for (const id of ['grt_unknown', grant?.id as string])
        expect((await revoke(id)).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
