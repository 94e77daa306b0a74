import { expect } from 'chai';
import { closeAll } from '../core/net/local.ts';
import { ISSUER, SECRET, type StrictServer, startStrictServer } from '../core/oauth/strict-server.ts';
import { createAccount } from '../support/accounts.ts';
import { execute } from '../support/execute.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const APP = 'https://api.acme.example';

describe('an account whose provider is configured by its issuer alone, over sockets', () => {
  let as: StrictServer;
  let app: Upstream;
  let server: TestServer;

  beforeEach(async () => {
    as = await startStrictServer();
    app = await startUpstream(async ({ headers }, res) => {
      const alive = await as.isAlive(String(headers['authorization']).replace('Bearer ', ''));
      json(res, alive ? 200 : 401, { alive });
    });
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: `${app.endpointOverride(APP)},${ISSUER}=${as.origin}` },
    });
  });
  afterEach(async () => {
    await server.stop();
    await app.stop();
    await closeAll();
  });

  async function connect(refresh_token: string, issuer = ISSUER): Promise<string> {
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: APP,
      auth_patterns: [{ type: 'OAUTH', oauth_config: { issuer } }],
    });
    const client = { client_id: 'basic', client_secret: SECRET };
    const { key_id: connector } = await createConnection(server, { connector: identifier, ...client });
    const oauth_token = { access_token: 'of-yesterday', refresh_token };
    return (await createAccount(server, { connector, connectedAccount: { authorization_details: { oauth_token } } }))
      .id;
  }

  const get = (id: string) => execute(server, id, 'http_get', { path: '/' });

  it('expires with a refresh token that its provider does not know (negative control)', async () => {
    const id = await connect('guessed');
    expect((await get(id)).status).not.to.equal(200);
    expect((await accountRow(server, id)).status).to.equal('EXPIRED');
  });

  it("is refreshed at the token endpoint of the issuer's metadata", async () => {
    const id = await connect(await as.issue());
    expect((await get(id)).body.data).to.deep.equal({ alive: true });
    const { body } = await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
    const { access_token: token } = body.connected_account.authorization_details.oauth_token;
    expect([token, await as.isAlive(token), as.requests()]).to.deep.equal([token, true, 1]);
  });

  it('does not send its tokens to an issuer that does not identify itself correctly', async () => {
    const id = await connect(await as.issue(), `${ISSUER}/tenant`);
    expect((await get(id)).status).not.to.equal(200);
    expect((await accountRow(server, id)).status).to.equal('ACTIVE');
    expect(as.requests()).to.equal(0);
  });
});
