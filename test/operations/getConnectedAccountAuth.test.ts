import { expect } from 'chai';
import { wrap } from '../../wiring/overrides.ts';
import { createAccount, unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import type { FaultPlace } from '../support/failing-store.ts';
import { failingStore } from '../support/failing-store.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { putInState } from '../support/states.ts';
import { firstEnvironment } from '../support/tokens.ts';

const PATH = '/api/v1/connected_accounts/auth';

describe('getConnectedAccountAuth', () => {
  let server: TestServer;
  const fault = { place: undefined as FaultPlace | undefined, error: () => new Error('no disk') };

  before(async () => {
    server = await startTestServer({
      overrides: { ...NO_BACKGROUND, store: wrap((store) => failingStore(store, fault)) },
    });
  });
  after(() => server.stop());

  const auth = (id: string, request = {}) => server.call('GET', `${PATH}?id=${id}`, request);

  describe('200', () => {
    it('returns the account in full, with its credentials', async () => {
      const account = await createAccount(server, { token: 'ghp_toBeRead' });
      const { status, body, headers } = await auth(account.id);
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ connected_account: account });
      expect(body.connected_account.authorization_details.static_auth.details.token).to.equal('ghp_toBeRead');
      expect(headers['cache-control']).to.equal('no-store');
    });

    it('accepts a client that has only this scope (T10)', async () => {
      const { id } = await createAccount(server);
      expect((await auth(id, { token: server.token('credentials:read') })).status).to.equal(200);
    });

    it('finds an account by its owner, connector and identifier', async () => {
      const account = await createAccount(server, { identifier: 'by-key', userId: 'u-7' });
      const answer = await server.call('GET', `${PATH}?user_id=u-7&connector=github&identifier=by-key`);
      expect(answer.body.connected_account.id).to.equal(account.id);
    });

    it('returns an empty object for an account without credentials', async () => {
      const { id } = await createAccount(server, { connectedAccount: {} });
      expect((await auth(id)).body.connected_account).to.deep.include({
        status: 'PENDING_AUTH',
        authorization_details: {},
      });
    });

    for (const state of ['EXPIRED', 'PENDING_AUTH'] as const) {
      it(`returns an account that is ${state} with that state, because its credentials may still be useful`, async () => {
        const { id } = await createAccount(server);
        await putInState(server, id, state, 'A reason.');
        const { status, body } = await auth(id);
        expect(status).to.equal(200);
        expect(body.connected_account).to.include({ status: state, status_reason: 'A reason.' });
      });
    }
  });

  describe('the audit log', () => {
    it('records each read before the response, with the reader and the request', async () => {
      const { id } = await createAccount(server);
      for (let round = 1; round <= 3; round++) {
        const { headers } = await auth(id);
        const reads = (await auditOf(server, id)).filter(
          ({ action }) => action === 'connected_account.credentials_read',
        );
        expect(reads).to.have.lengthOf(round);
        expect(reads[0]).to.include({ actor: CLIENT_ID, requestId: headers['x-request-id'] });
      }
    });

    it('contains each of a hundred concurrent reads (C5)', async () => {
      const { id } = await createAccount(server);
      const before = (await server.parts.store.read.audit.list((await firstEnvironment(server)).id, { size: 1 })).total;
      const answers = await Promise.all(Array.from({ length: 100 }, () => auth(id)));
      expect(answers.every(({ status }) => status === 200)).to.equal(true);
      const environment = await firstEnvironment(server);
      const after = await server.parts.store.read.audit.list(environment.id, { size: 1 });
      expect(after.total - before).to.equal(100);
      expect(await server.parts.store.read.audit.verifyChain(environment.id)).to.include({ intact: true });
    });

    it('prevents the response when it cannot be written: 500 without credentials (C5)', async () => {
      const { id } = await createAccount(server, { token: 'ghp_notLogged' });
      fault.place = 'write';
      const answer = await auth(id);
      fault.place = undefined;
      expect(answer.status).to.equal(500);
      expect(answer.text).not.to.include('ghp_notLogged');
    });

    it('does not contain refused requests', async () => {
      const { id } = await createAccount(server);
      await auth(id, { token: server.token('accounts:read') });
      await server.call('GET', `${PATH}?id=${id}&identifier=somebody-else`);
      const actions = (await auditOf(server, id)).map(({ action }) => action);
      expect(actions).to.deep.equal(['connected_account.created']);
    });
  });

  describe('400', () => {
    it('names each field that the key lacks', async () => {
      const answer = await server.call('GET', PATH);
      expect(answer.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
      const fields = answer.body.errors.map((e: { field: string }) => e.field);
      expect(fields).to.deep.equal(['connector', 'identifier', 'organization_id']);
    });
  });

  describe('403', () => {
    it('rejects a client that may read and write accounts: credentials have a separate scope (T10)', async () => {
      const { id } = await createAccount(server, { token: 'ghp_notForYou' });
      const answer = await auth(id, { token: server.token('accounts:read', 'accounts:write', 'admin') });
      expect(answer.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
      expect(answer.text).not.to.include('ghp_notForYou');
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and the id of a deleted account', async () => {
      expect((await auth(unknownId('ca'))).body).to.include({ status: 404, code: 'NOT_FOUND' });
      const { id } = await createAccount(server);
      await server.call('POST', '/api/v1/connected_accounts:delete', { body: { id } });
      expect((await auth(id)).status).to.equal(404);
    });
  });
});
