import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { createTypedAccount, SAMPLES, TYPES } from '../support/all-types.ts';
import { auditOf } from '../support/audit.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow, putInState } from '../support/states.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('disconnectConnectedAccount', () => {
  let server: TestServer;
  let clock: TestClock;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { now: clock.now } });
  });
  after(() => server.stop());

  const disconnect = (id: string) => server.call('POST', `${ACCOUNTS}:disconnect`, { body: { id } });

  describe('200', () => {
    it('keeps the account and its settings, and returns it without credentials', async () => {
      const input = {
        api_config: { region: 'eu' },
        authorization_details: { static_auth: { details: { token: 'ghp_away' } } },
      };
      const account = await createAccount(server, { connectedAccount: input });
      clock.advance(60_000);
      const { status, body, text } = await disconnect(account.id);
      expect(status).to.equal(200);
      expect(body.connected_account).to.deep.equal({
        ...account,
        status: 'DISCONNECTED',
        status_reason: 'Disconnected by an API client.',
        updated_at: new Date(clock.now()).toISOString(),
        authorization_details: {},
      });
      expect(text).not.to.include('ghp_away');
    });

    for (const type of TYPES) {
      it(`deletes the credentials of an account of type ${type}`, async () => {
        const { id } = (await createTypedAccount(server, type)).body.connected_account;
        const before = await accountRow(server, id);
        await disconnect(id);
        const after = await accountRow(server, id);
        const gone = { wrappedDataKey: null, kekId: null, credentialsSealed: null, temporarySealed: null };
        expect(after).to.include({ ...gone, status: 'DISCONNECTED', tokenExpiresAt: null });
        expect(after.publicDetails).to.deep.equal({});
        expect(after.credentialGeneration).to.equal(before.credentialGeneration + 1);
        const { body } = await server.call('GET', `${ACCOUNTS}/auth?id=${id}`);
        expect(body.connected_account.authorization_details).to.deep.equal({});
      });
    }

    it('prevents the account from executing tools, and the error names the operation to reconnect it', async () => {
      const { id } = await createAccount(server);
      await disconnect(id);
      const body = {
        connected_account_id: id,
        tool_name: 'github_get_repository',
        tool_input: { owner: 'a', repo: 'b' },
      };
      const answer = await server.call('POST', '/api/v1/execute_tool', { body });
      expect(answer.body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
      expect(answer.body.next_action).to.include({ operation_id: 'generateMagicLink' });
    });

    it('is reversed by complete new credentials, which are not merged with old ones', async () => {
      const { id } = (await createTypedAccount(server, 'BASIC')).body.connected_account;
      await disconnect(id);
      const update = (details: object) =>
        server.call('PUT', ACCOUNTS, {
          body: { id, connected_account: { authorization_details: { static_auth: { details } } } },
        });
      expect((await update({ password: 'new' })).body.code).to.equal('INVALID_AUTHORIZATION_DETAILS');
      const { body } = await update({ username: 'ada', password: 'new' });
      expect(body.connected_account).to.include({ status: 'ACTIVE', status_reason: '' });
      expect(SAMPLES.BASIC.details).not.to.deep.equal(body.connected_account.authorization_details);
    });

    it('succeeds when it is repeated, and in every state', async () => {
      const { id } = await createAccount(server);
      for (const state of ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const) {
        await putInState(server, id, state);
        const { status, body } = await disconnect(id);
        expect([status, body.connected_account.status]).to.deep.equal([200, 'DISCONNECTED']);
      }
    });

    it('finds an account by its owner, connector and identifier', async () => {
      const account = await createAccount(server, { identifier: 'by-key', userId: 'u-7' });
      const key = { user_id: 'u-7', connector: 'github', identifier: 'by-key' };
      const answer = await server.call('POST', `${ACCOUNTS}:disconnect`, { body: key });
      expect(answer.body.connected_account.id).to.equal(account.id);
    });

    it('is in the audit log', async () => {
      const { id } = await createAccount(server);
      await disconnect(id);
      const [latest] = await auditOf(server, id);
      expect(latest?.action).to.equal('connected_account.disconnected');
    });
  });

  describe('400', () => {
    it('names each field that the key lacks', async () => {
      const answer = await server.call('POST', `${ACCOUNTS}:disconnect`, { body: { connector: 'github' } });
      expect(answer.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
      const fields = answer.body.errors.map((e: { field: string }) => e.field);
      expect(fields).to.deep.equal(['identifier', 'organization_id']);
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and the id of a deleted account', async () => {
      expect((await disconnect(unknownId('ca'))).body).to.include({ status: 404, code: 'NOT_FOUND' });
      const { id } = await createAccount(server);
      await server.call('POST', `${ACCOUNTS}:delete`, { body: { id } });
      expect((await disconnect(id)).status).to.equal(404);
    });
  });
});
