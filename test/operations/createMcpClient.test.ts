import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/mcp/clients';

describe('createMcpClient', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const create = (fields: object = {}) =>
    server.call('POST', PATH, {
      body: { name: 'Acme Chat', redirect_uris: ['https://chat.example/callback'], ...fields },
    });

  describe('201', () => {
    it('registers a public client without a secret', async () => {
      const { status, body } = await create();
      expect(status).to.equal(201);
      expect(body.client_secret).to.equal(null);
      const { id, created_at, ...client } = body.client;
      expect(id).to.match(/^ocl_/);
      expect(Date.parse(created_at)).to.be.a('number');
      expect(client).to.deep.equal({
        kind: 'REGISTERED',
        name: 'Acme Chat',
        redirect_uris: ['https://chat.example/callback'],
        token_endpoint_auth_method: 'none',
        last_used_at: null,
      });
      expect((await auditOf(server, id)).map(({ action }) => action)).to.deep.equal(['mcp_client.created']);
    });

    it('shows the secret of a confidential client once, and stores a digest', async () => {
      const { body, headers } = await create({ token_endpoint_auth_method: 'client_secret_basic' });
      expect(body.client_secret).to.match(/^vks_/);
      expect(headers['cache-control']).to.equal('no-store');
      const list = await server.call('GET', PATH);
      expect(list.text).to.include(body.client.id).and.not.include(body.client_secret);
    });

    it('accepts addresses on the machine of the user and of listed schemes', async () => {
      const redirect_uris = ['http://127.0.0.1/cb', 'http://[::1]:7777/cb', 'http://localhost/', 'cursor://a.b/cb'];
      expect((await create({ redirect_uris })).body.client.redirect_uris).to.deep.equal(redirect_uris);
    });
  });

  describe('400', () => {
    for (const uri of [
      'http://chat.example/callback',
      'https://chat.example/#here',
      'https://user@chat.example/',
      'https://chat.example/a/../b',
      'https://CHAT.example/',
      'javascript:alert(1)',
      'data:text/html,x',
      'other://callback',
      'http://127.0.0.1:80@evil.example/',
      'http://127.0.0.1.evil.example/',
      'https:/chat.example',
      '/callback',
    ]) {
      it(`rejects the redirect URI ${uri}`, async () => {
        const answer = await create({ redirect_uris: ['https://chat.example/ok', uri] });
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal('redirect_uris[1]');
      });
    }

    it('rejects a name without visible characters', async () => {
      const answer = await create({ name: '\u200b\u202e' });
      expect(answer.body.errors[0].field).to.equal('name');
    });
  });
});
