import { expect } from 'chai';
import { type LoginWorld, REDIRECT_URI, startLoginWorld } from '../support/mcp-login.ts';
import { basicHeader } from '../support/token-request.ts';

describe('revokeOAuthToken', () => {
  let world: LoginWorld;

  before(async () => {
    world = await startLoginWorld();
  });
  after(() => world.stop());

  const revoke = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    world.server.call('POST', '/oauth/revoke', {
      token: null,
      body: new URLSearchParams({ client_id: world.documents.clientId, ...form }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });

  describe('200', () => {
    for (const kind of ['refresh_token', 'access_token'] as const) {
      it(`ends the grant of its ${kind}`, async () => {
        const tokens = await world.tokens();
        expect((await world.listTools(tokens.access_token)).status).to.equal(200);
        const answer = await revoke({ token: tokens[kind], token_type_hint: 'wrong' });
        expect([answer.status, answer.body]).to.deep.equal([200, {}]);
        expect((await world.listTools(tokens.access_token)).status).to.equal(401);
        expect((await world.refresh(tokens.refresh_token)).body.error).to.equal('invalid_grant');
      });
    }

    it('for an unknown token, and for that of another client, which stays valid', async () => {
      const tokens = await world.tokens();
      const other = (await world.register()).body.client_id;
      expect((await revoke({ token: 'vkr_unknown' })).status).to.equal(200);
      expect((await revoke({ token: tokens.refresh_token, client_id: other })).status).to.equal(200);
      expect((await world.listTools(tokens.access_token)).status).to.equal(200);
    });
  });

  describe('400', () => {
    it('without a token, without a client, and with a repeated parameter', async () => {
      expect((await revoke({})).body.error).to.equal('invalid_request');
      expect((await revoke({ token: 'x', client_id: '' })).body.error).to.equal('invalid_request');
      const body = `token=a&token=b&client_id=${encodeURIComponent(world.documents.clientId)}`;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const twice = await world.server.call('POST', '/oauth/revoke', { token: null, body, headers });
      expect([twice.status, twice.body.error]).to.deep.equal([400, 'invalid_request']);
    });
  });

  describe('401', () => {
    it('for an unknown client, a missing and a wrong secret', async () => {
      const fields = { name: 'Acme', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'client_secret_basic' };
      const created = await world.server.call('POST', '/api/v1/mcp/clients', { body: fields });
      const { id } = created.body.client;
      expect((await revoke({ token: 'x', client_id: 'ocl_unknown' })).status).to.equal(401);
      expect((await revoke({ token: 'x', client_id: id })).status).to.equal(401);
      const wrong = await revoke({ token: 'x', client_id: id }, basicHeader(id, 'vks_wrong'));
      expect([wrong.status, wrong.body.error]).to.deep.equal([401, 'invalid_client']);
      expect(wrong.headers['www-authenticate']).to.match(/^Basic /);
      const right = await revoke({ token: 'x', client_id: id }, basicHeader(id, created.body.client_secret));
      expect(right.status, 'the control').to.equal(200);
    });
  });
});
