import { expect } from 'chai';
import { type LoginWorld, startLoginWorld } from '../support/mcp-login.ts';

describe('revokeMcpGrants', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
  });
  after(() => world.stop());

  const revoke = (body: object) => world.server.call('POST', '/api/v1/mcp/grants:revoke', { body });

  describe('200', () => {
    it('ends all grants of a user, and no others', async () => {
      const bob = { user_id: 'user_bob', identifier: 'bob' };
      const [one, two, other] = [await world.tokens(), await world.tokens(), await world.tokens({}, bob)];
      expect((await revoke({ user_id: 'user_ada' })).body).to.deep.equal({ revoked: 2 });
      const statuses = [];
      for (const tokens of [one, two, other]) statuses.push((await world.listTools(tokens.access_token)).status);
      expect(statuses).to.deep.equal([401, 401, 200]);
      expect((await revoke({ user_id: 'user_ada' })).body).to.deep.equal({ revoked: 0 });
      expect((await revoke({ server_id: world.serverId })).body).to.deep.equal({ revoked: 1 });
    });
  });

  describe('400', () => {
    it('without a field, so that nothing is revoked by mistake', async () => {
      await world.tokens();
      expect((await revoke({})).body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(await world.grants()).to.have.lengthOf(1);
    });
  });
});
