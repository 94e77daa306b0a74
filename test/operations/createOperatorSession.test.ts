import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { callConsole, offer } from '../support/operators.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const PATH = '/api/v1/operator_sessions';

describe('createOperatorSession', () => {
  let server: TestServer;

  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  describe('201', () => {
    it('returns an address that opens a session of this operator, with the token in the fragment', async () => {
      const { url, token } = await offer(server, 'ada@acme.example', 'EDITOR');
      expect(url).to.equal(`http://localhost/console/login#${token}`);
      const { body } = await callConsole(server, '', { body: { token } });
      expect(body.operator_session).to.include({ operator: 'ada@acme.example', role: 'EDITOR' });
    });

    it('records the name and the role in the audit log, and no secret', async () => {
      const { id, token } = await offer(server, 'eve', 'VIEWER');
      const [row] = await auditOf(server, id);
      expect(row).to.include({ action: 'operator_session.created', actor: 'test-client' });
      expect(row?.details).to.deep.equal({ operator: 'eve', role: 'VIEWER' });
      expect(server.logs.join('\n')).not.to.include(token);
    });

    it('returns the same address to a retry', async () => {
      const request = { body: { operator: 'ada', role: 'OWNER' }, headers: { 'idempotency-key': 'address-1' } };
      const first = await server.call('POST', PATH, request);
      expect((await server.call('POST', PATH, request)).body).to.deep.equal(first.body);
    });
  });

  describe('400', () => {
    for (const [body, field] of [
      [{ operator: '', role: 'OWNER' }, 'operator'],
      [{ operator: 'a\nb', role: 'OWNER' }, 'operator'],
      [{ operator: 'ada', role: 'ADMIN' }, 'role'],
    ] as const) {
      it(`names ${field} of ${JSON.stringify(body)}`, async () => {
        const answer = await server.call('POST', PATH, { body });
        expect(answer.body.errors[0].field).to.equal(field);
      });
    }
  });

  describe('404', () => {
    it('creates no address for a server without a console', async () => {
      const without = await startTestServer({ env: { VALETKEY_CONSOLE: 'off' } });
      const answer = await without.call('POST', PATH, { body: { operator: 'ada', role: 'OWNER' } });
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
      await without.stop();
    });
  });

  describe('409', () => {
    it('refuses more sessions than an environment may have', async () => {
      const { store } = server.parts;
      const { id } = await server.parts.environmentOf('localhost');
      const row = { state: 'OFFERED', operator: 'x', role: 'VIEWER', createdAt: 0, usedAt: null } as const;
      const expiresAt = server.parts.now() + 60_000;
      await store.write(async (tx) => {
        for (let count = 0; count < 1000; count++) {
          const tokenDigest = server.parts.digester.digest('fill', String(count));
          await tx.operatorSessions.insert(id, { ...row, id: server.parts.newId('ops'), tokenDigest, expiresAt });
        }
      });
      const answer = await server.call('POST', PATH, { body: { operator: 'ada', role: 'OWNER' } });
      expect(answer.body).to.include({ status: 409, code: 'TOO_MANY_SESSIONS' });
    });
  });

  describe('422', () => {
    it('refuses a known idempotency key for another operator', async () => {
      const other = await startTestServer();
      const headers = { 'idempotency-key': 'address-2' };
      await other.call('POST', PATH, { headers, body: { operator: 'ada', role: 'OWNER' } });
      const answer = await other.call('POST', PATH, { headers, body: { operator: 'bob', role: 'OWNER' } });
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
      await other.stop();
    });
  });
});
