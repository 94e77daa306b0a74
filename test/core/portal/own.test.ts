import { expect } from 'chai';
import { PORTAL } from '../../../core/budgets.ts';
import { ownAccounts } from '../../../core/portal/own.ts';
import { createAccount } from '../../support/accounts.ts';
import { startTestServer, type TestServer } from '../../support/server.ts';
import { firstEnvironment } from '../../support/tokens.ts';

describe('the accounts of a user in the portal', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer({ env: { VALETKEY_RATE_LIMIT: 'off' } });
  });
  after(() => server.stop());

  it('are found behind many newer accounts with the same user id in organizations', async () => {
    const own = await createAccount(server, { userId: 'ada' });
    for (let made = 0; made <= PORTAL.rows; made++) {
      const body = { connector: 'github', identifier: `other-${made}`, user_id: 'ada', organization_id: `org-${made}` };
      expect((await server.call('POST', '/api/v1/connected_accounts', { body })).status).to.equal(201);
    }
    const { id } = await firstEnvironment(server);
    const ofUser = (organizationId: string) =>
      ownAccounts(server.parts.store.read, id, { userId: 'ada', organizationId });
    expect((await ofUser('')).map((account) => account.id)).to.deep.equal([own.id]);
    expect((await ofUser('org-7')).map(({ identifier }) => identifier)).to.deep.equal(['other-7']);
  });
});
