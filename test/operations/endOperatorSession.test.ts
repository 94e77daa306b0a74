import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { callConsole, logIn, offer } from '../support/operators.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const pathOf = (id: string) => `/api/v1/operator_sessions/${id}:end`;

describe('endOperatorSession', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('200', () => {
    it('revokes the access tokens of the session immediately', async () => {
      const { id, cookie, accessToken } = await logIn(server);
      expect((await server.call('GET', '/api/v1/tools', { token: accessToken })).status).to.equal(200);
      const answer = await server.call('POST', pathOf(id));
      expect(answer.body.operator_session).to.include({ id, state: 'OPEN', operator: 'ada' });
      expect((await server.call('GET', '/api/v1/tools', { token: accessToken })).status).to.equal(401);
      expect((await callConsole(server, ':token', { cookie })).status).to.equal(401);
      const actions = (await auditOf(server, id)).map((row) => row.action);
      expect(actions).to.include.members(['operator_session.opened', 'operator_session.ended']);
    });

    it('revokes an unused address', async () => {
      const { id, token } = await offer(server);
      await server.call('POST', pathOf(id));
      expect((await callConsole(server, '', { body: { token } })).status).to.equal(401);
    });

    it('lets an operator end their own session', async () => {
      const { id, accessToken } = await logIn(server);
      expect((await server.call('POST', pathOf(id), { token: accessToken })).status).to.equal(200);
      expect((await server.call('GET', '/api/v1/tools', { token: accessToken })).status).to.equal(401);
    });
  });

  describe('404', () => {
    it('rejects an unknown session, and one that has ended', async () => {
      const { id } = await logIn(server);
      await server.call('POST', pathOf(id));
      for (const unknown of [id, unknownId('ops')]) {
        expect((await server.call('POST', pathOf(unknown))).body).to.include({ status: 404, code: 'NOT_FOUND' });
      }
    });

    it('rejects a session of another environment (C1)', async () => {
      const { id, accessToken } = await logIn(server);
      const other = await addSecondEnvironment(server);
      expect((await other.call('POST', pathOf(id))).status).to.equal(404);
      expect((await server.call('GET', '/api/v1/tools', { token: accessToken })).status).to.equal(200);
    });
  });

  describe('422', () => {
    it('refuses a known idempotency key for another session', async () => {
      const headers = { 'idempotency-key': 'end-1' };
      const [one, two] = [await logIn(server), await logIn(server)];
      await server.call('POST', pathOf(one.id), { headers });
      const answer = await server.call('POST', pathOf(two.id), { headers });
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    });
  });
});
