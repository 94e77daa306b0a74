import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { dumpDatabase } from '../support/database-file.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { putInState } from '../support/states.ts';

const ACCOUNTS = '/api/v1/connected_accounts';

describe('deleteConnectedAccount', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const remove = (body: Record<string, unknown>, headers = {}) =>
    server.call('POST', `${ACCOUNTS}:delete`, { body, headers });

  describe('200', () => {
    it('has no content', async () => {
      const { id } = await createAccount(server);
      const { status, text, headers } = await remove({ id });
      expect([status, text]).to.deep.equal([200, '']);
      expect(headers['content-length']).to.equal('0');
      expect(headers).not.to.have.property('content-type');
    });

    it('removes the account from every operation', async () => {
      const account = await createAccount(server, { identifier: 'gone@acme.test', userId: 'u-gone' });
      const { id } = account;
      await remove({ id });
      const key = 'user_id=u-gone&connector=github&identifier=gone@acme.test';
      for (const path of ['details', 'auth']) {
        expect((await server.call('GET', `${ACCOUNTS}/${path}?id=${id}`)).status).to.equal(404);
        expect((await server.call('GET', `${ACCOUNTS}/${path}?${key}`)).status).to.equal(404);
      }
      expect((await server.call('PUT', ACCOUNTS, { body: { id, connected_account: {} } })).status).to.equal(404);
      expect((await server.call('POST', `${ACCOUNTS}:disconnect`, { body: { id } })).status).to.equal(404);
      const execute = { connected_account_id: id, tool_name: 'github_get_repository', tool_input: {} };
      expect((await server.call('POST', '/api/v1/execute_tool', { body: execute })).status).to.equal(404);
      expect((await server.call('GET', `${ACCOUNTS}?identifier=gone@acme.test`)).body.total_size).to.equal(0);
      expect((await server.call('GET', `${ACCOUNTS}:search?query=gone@acme`)).body.total_size).to.equal(0);
    });

    it('keeps nothing of the account except its id, its audit entries and its place in the order', async () => {
      const { id } = await createAccount(server, { identifier: 'traceless@acme.test', token: 'ghp_traceless' });
      const before = dumpDatabase(server);
      await remove({ id });
      const after = dumpDatabase(server);
      expect(before['accounts']?.some((row) => row['id'] === id)).to.equal(true);
      const holding = Object.keys(after).filter((table) => JSON.stringify(after[table]).includes(id));
      expect(holding).to.have.members(['account_tombstones', 'audit_log']);
      expect(JSON.stringify(after)).not.to.include('traceless');
    });

    it('finds an account by its owner, connector and identifier', async () => {
      await createAccount(server, { identifier: 'by-key', userId: 'u-7' });
      const key = { user_id: 'u-7', connector: 'github', identifier: 'by-key' };
      expect((await remove(key)).status).to.equal(200);
      expect((await remove(key)).status).to.equal(404);
    });

    for (const state of ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const) {
      it(`deletes an account that is ${state}`, async () => {
        const { id } = await createAccount(server);
        await putInState(server, id, state);
        expect((await remove({ id })).status).to.equal(200);
      });
    }

    it('makes the key available for a new account, which has a new id and no data of the old one', async () => {
      const name = { identifier: 'again@acme.test', userId: 'u-again' };
      const first = await createAccount(server, { ...name, token: 'ghp_first' });
      await remove({ id: first.id });
      const second = await createAccount(server, { ...name, connectedAccount: {} });
      expect(second.id).not.to.equal(first.id);
      const { body } = await server.call('GET', `${ACCOUNTS}/auth?id=${second.id}`);
      expect(body.connected_account).to.deep.include({
        status: 'PENDING_AUTH',
        api_config: {},
        authorization_details: {},
      });
      expect((await server.call('GET', `${ACCOUNTS}/details?id=${first.id}`)).status).to.equal(404);
    });

    it('keeps the audit entries of the account, and adds one', async () => {
      const { id } = await createAccount(server);
      await remove({ id });
      expect((await auditOf(server, id)).map(({ action }) => action)).to.deep.equal([
        'connected_account.deleted',
        'connected_account.created',
      ]);
    });

    it('succeeds for one of many concurrent deletions; the others return 404', async () => {
      const { id } = await createAccount(server);
      const answers = await Promise.all(Array.from({ length: 20 }, () => remove({ id })));
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([200, ...Array(19).fill(404)]);
    });

    it('is final despite concurrent updates: nothing is restored (C12)', async () => {
      const { id } = await createAccount(server);
      const update = (index: number) =>
        server.call('PUT', ACCOUNTS, { body: { id, connected_account: { api_config: { [`k${index}`]: 1 } } } });
      const answers = await Promise.all([update(0), update(1), remove({ id }), update(2), update(3)]);
      expect(answers[2]?.status).to.equal(200);
      for (const { status } of answers) expect(status).to.be.oneOf([200, 404]);
      expect((await server.call('GET', `${ACCOUNTS}/details?id=${id}`)).status).to.equal(404);
    });
  });

  describe('400', () => {
    it('names each field that the key lacks, and deletes nothing', async () => {
      const before = dumpDatabase(server);
      const answer = await remove({});
      expect(answer.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
      const fields = answer.body.errors.map((e: { field: string }) => e.field);
      expect(fields).to.deep.equal(['connector', 'identifier', 'organization_id']);
      expect(dumpDatabase(server)).to.deep.equal(before);
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and the id of a deleted account', async () => {
      expect((await remove({ id: unknownId('ca') })).body).to.include({ status: 404, code: 'NOT_FOUND' });
      const { id } = await createAccount(server);
      await remove({ id });
      expect((await remove({ id })).body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });
});
