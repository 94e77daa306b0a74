import { expect } from 'chai';
import { addSecondEnvironment } from '../support/second-environment.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const PATH = '/api/v1/server_settings';
const ISSUER = 'https://login.acme.example';

describe('getServerSettings', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer({
      env: {
        VALETKEY_EGRESS_ALLOW: '127.0.0.1:4001',
        VALETKEY_ENDPOINT_OVERRIDES: 'https://api.github.com=http://127.0.0.1:4002',
        VALETKEY_CONSOLE_OIDC_ISSUER: ISSUER,
        VALETKEY_CONSOLE_OIDC_CLIENT_ID: 'console',
        VALETKEY_CONSOLE_OIDC_ROLES: 'owner=valetkey-owners',
      },
    });
  });
  after(() => server.stop());

  it('200: returns the allowed addresses, the keys, and the login of operators', async () => {
    const answer = await server.call('GET', PATH);
    expect(answer.status, answer.text).to.equal(200);
    const { encryption_keys: keys, ...rest } = answer.body.server_settings;
    expect(rest).to.deep.equal({
      allowed_addresses: ['127.0.0.1:4001'],
      endpoint_overrides: [{ origin: 'https://api.github.com', target: 'http://127.0.0.1:4002' }],
      console_issuer: ISSUER,
    });
    expect(keys).to.have.length(1);
    expect(keys[0]).to.have.all.keys('id', 'state', 'created_at');
    expect(keys[0]).to.include({ id: server.parts.keyIds()[0], state: 'ACTIVE' });
    expect(Date.parse(keys[0].created_at)).to.be.greaterThan(0);
  });

  it('200: allows only public addresses in production', async () => {
    const other = await addSecondEnvironment(server, { kind: 'PRODUCTION' });
    const { server_settings: settings } = (await other.call('GET', PATH)).body;
    expect(settings).to.deep.include({ allowed_addresses: [], endpoint_overrides: [] });
  });
});
