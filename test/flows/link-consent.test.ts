import { expect } from 'chai';
import type { AuthorizationServer } from '../support/authorization-server.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import {
  accountOf,
  browserFor,
  consentConnector,
  makeLink,
  returned,
  startLinkServer,
  verifyUser,
  walk,
} from '../support/links.ts';
import type { TestServer } from '../support/server.ts';

describe('a link to a provider', () => {
  let as: AuthorizationServer;
  let server: TestServer;
  let connector: string;

  before(async () => {
    as = await startAuthorizationServer();
    server = await startLinkServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: as.override } });
    ({ connector } = await consentConnector(server, as));
  });
  after(async () => {
    await server.stop();
    await as.stop();
  });

  it('leads through consent to a working account', async () => {
    const identifier = 'ada@app.example';
    const link = await makeLink(server, { connector, identifier, user_id: 'ada', state: 'a state' });
    const page = await walk(browserFor(as), link, 'ada');
    expect(page.status, page.text).to.equal(303);
    const { authRequestId, state } = returned(page);
    expect(state).to.equal('a state');
    expect((await accountOf(server, identifier))?.status).to.equal('PENDING_VERIFICATION');
    const verified = await verifyUser(server, authRequestId, identifier);
    expect(verified.status, verified.text).to.equal(200);
    const account = await accountOf(server, identifier);
    expect(account?.status).to.equal('ACTIVE');
    const auth = await server.call('GET', `/api/v1/connected_accounts/auth?id=${account?.id}`);
    const { oauth_token: token } = auth.body.connected_account.authorization_details;
    expect(await as.isAlive(token.access_token)).to.equal(true);
    expect(token.scopes).to.deep.equal(['openid', 'files:read']);
  });
});
