import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { createConnector } from '../support/all-types.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { dumpDatabase } from '../support/database-file.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow, putInState } from '../support/states.ts';

const PATH = '/api/v1/connected_accounts/details';

describe('getConnectedAccountDetails', () => {
  let server: TestServer;
  let clock: TestClock;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { now: clock.now } });
  });
  after(() => server.stop());

  describe('200', () => {
    it('returns values that are not secret, and no secret', async () => {
      const account = await createAccount(server, { token: 'ghp_doNotShow' });
      const answer = await server.call('GET', `${PATH}?id=${account.id}`);
      expect(answer.status).to.equal(200);
      expect(answer.body.connected_account).to.deep.equal({
        ...account,
        authorization_details: { static_auth: { details: {} } },
      });
      expect(answer.text).not.to.include('ghp_doNotShow');
    });

    it('returns the same to a client that may read credentials, because these have a separate operation (C4)', async () => {
      const { id } = await createAccount(server, { token: 'ghp_doNotShow' });
      for (const token of [server.token('accounts:read'), server.token('accounts:read', 'credentials:read')]) {
        const answer = await server.call('GET', `${PATH}?id=${id}`, { token });
        expect(answer.status).to.equal(200);
        expect(answer.text).not.to.include('ghp_doNotShow');
      }
    });

    it('finds an account by its owner, connector and identifier', async () => {
      const account = await createAccount(server, { identifier: 'by-key', userId: 'u-7' });
      const answer = await server.call('GET', `${PATH}?user_id=u-7&connector=github&identifier=by-key`);
      expect(answer.body.connected_account.id).to.equal(account.id);
    });

    it('finds an account whose names need escapes in a query', async () => {
      const identifier = 'a b+c&d=e%41#é';
      const { id } = await createAccount(server, { identifier, userId: 'u/?' });
      const key = new URLSearchParams({ user_id: 'u/?', connector: 'github', identifier });
      expect((await server.call('GET', `${PATH}?${key}`)).body.connected_account.id).to.equal(id);
      const escaped = `user_id=u%2f%3F&connector=github&identifier=${encodeURIComponent(identifier)}`;
      expect((await server.call('GET', `${PATH}?${escaped}`)).body.connected_account.id).to.equal(id);
    });

    it('writes nothing, and needs no encryption key, because it decrypts nothing', async () => {
      const { id } = await createAccount(server);
      const before = dumpDatabase(server);
      await server.call('GET', `${PATH}?id=${id}`);
      expect(dumpDatabase(server)).to.deep.equal(before);
    });

    it('returns the status of the account and its reason', async () => {
      const { id } = await createAccount(server);
      await putInState(server, id, 'EXPIRED', 'The refresh token was refused.');
      const { body } = await server.call('GET', `${PATH}?id=${id}`);
      expect(body.connected_account).to.include({ status: 'EXPIRED', status_reason: 'The refresh token was refused.' });
    });

    it('returns the time of the last use before it is written', async () => {
      const { id } = await createAccount(server);
      clock.advance(5_000);
      server.parts.usage.touch(await accountRow(server, id));
      const { body } = await server.call('GET', `${PATH}?id=${id}`);
      expect(body.connected_account.last_used_at).to.equal(new Date(clock.now()).toISOString());
      expect((await accountRow(server, id)).lastUsedAt).to.equal(null);
    });

    it('works after the provider of the account was deleted', async () => {
      const connector = await createConnector(server, [{ type: 'API_KEY' }]);
      const { id } = await createAccount(server, { connector, connectedAccount: {} });
      await server.call('DELETE', `/api/v1/custom-providers/${connector}`);
      const { status, body } = await server.call('GET', `${PATH}?id=${id}`);
      expect(status).to.equal(200);
      expect(body.connected_account).to.include({ status: 'DISCONNECTED', provider: connector });
    });
  });

  describe('400', () => {
    it('names each field that the key lacks', async () => {
      const answer = await server.call('GET', `${PATH}?connector=github`);
      expect(answer.status).to.equal(400);
      expect(answer.body.code).to.equal('INCOMPLETE_ACCOUNT_KEY');
      expect(answer.body.errors.map((e: { field: string }) => e.field)).to.deep.equal([
        'identifier',
        'organization_id',
      ]);
    });

    it('refuses a duplicate parameter, also with the same value', async () => {
      const { id } = await createAccount(server);
      const answer = await server.call('GET', `${PATH}?id=${id}&id=${id}`);
      expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(answer.body.errors[0].field).to.equal('id');
    });
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await server.call('GET', `${PATH}?id=${unknownId('ca')}`);
      expect(answer.status).to.equal(404);
    });

    it('refuses an id whose other fields do not match', async () => {
      const account = await createAccount(server);
      const answer = await server.call('GET', `${PATH}?id=${account.id}&identifier=somebody-else`);
      expect(answer.status).to.equal(404);
    });
  });
});
