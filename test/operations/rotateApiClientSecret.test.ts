import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { createApiClient } from '../support/api-clients.ts';
import { auditOf } from '../support/audit.ts';
import { testClock } from '../support/clock.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const HOUR = 60 * 60 * 1000;
const pathOf = (id: string) => `/api/v1/api_clients/${id}:rotate_secret`;

describe('rotateApiClientSecret', () => {
  let server: TestServer;
  const clock = testClock();

  const rotate = (id: string, body: unknown = {}) => server.call('POST', pathOf(id), { body });

  before(async () => {
    server = await startTestServer({ overrides: { now: clock.now } });
  });
  after(() => server.stop());

  describe('200', () => {
    it('lets both secrets work until the overlap has ended, then only the new one (T6)', async () => {
      const client = await createApiClient(server);
      const answer = await rotate(client.id, { overlap_seconds: 3600 });
      expect(answer.status, answer.text).to.equal(200);
      const fresh = answer.body.client_secret;
      expect(fresh).not.to.equal(client.secret);
      expect(answer.body.api_client.secrets.map((s: { expires_at: string | null }) => s.expires_at)).to.deep.equal([
        null,
        new Date(clock.now() + HOUR).toISOString(),
      ]);
      expect((await client.requestToken(client.secret)).status).to.equal(200);
      expect((await client.requestToken(fresh)).status).to.equal(200);
      clock.advance(HOUR - 1);
      expect((await client.requestToken(client.secret)).status).to.equal(200);
      clock.advance(1);
      expect((await client.requestToken(client.secret)).status).to.equal(401);
      expect((await client.requestToken(fresh)).status).to.equal(200);
    });

    it('keeps the old secret valid for a day by default', async () => {
      const client = await createApiClient(server);
      await rotate(client.id);
      clock.advance(24 * HOUR - 1);
      expect((await client.requestToken(client.secret)).status).to.equal(200);
      clock.advance(1);
      expect((await client.requestToken(client.secret)).status).to.equal(401);
    });

    it('ends the old secret immediately without an overlap', async () => {
      const client = await createApiClient(server);
      const answer = await rotate(client.id, { overlap_seconds: 0 });
      expect(answer.body.api_client.secrets).to.have.length(1);
      expect((await client.requestToken(client.secret)).status).to.equal(401);
      expect((await client.requestToken(answer.body.client_secret)).status).to.equal(200);
    });

    it('never keeps more than two valid secrets: the oldest is removed first', async () => {
      const client = await createApiClient(server);
      const second = (await rotate(client.id)).body.client_secret;
      const third = (await rotate(client.id)).body.client_secret;
      expect((await client.requestToken(client.secret)).status).to.equal(401);
      expect((await client.requestToken(second)).status).to.equal(200);
      expect((await client.requestToken(third)).status).to.equal(200);
    });

    it('does not revoke tokens, which expire at their own time', async () => {
      const client = await createApiClient(server);
      const { access_token: token } = (await client.requestToken()).body;
      await rotate(client.id, { overlap_seconds: 0 });
      expect((await server.call('GET', '/api/v1/tools', { token })).status).to.equal(200);
    });

    it('returns the same new secret for a known idempotency key', async () => {
      const client = await createApiClient(server);
      const request = { body: {}, headers: { 'idempotency-key': 'rotate-1' } };
      const first = await server.call('POST', pathOf(client.id), request);
      const second = await server.call('POST', pathOf(client.id), request);
      expect(second.body).to.deep.equal(first.body);
      expect((await client.requestToken(client.secret)).status).to.equal(200);
    });

    it('is in the audit log, without a secret', async () => {
      const { id } = await createApiClient(server);
      const secret = (await rotate(id)).body.client_secret;
      const rows = await auditOf(server, id);
      expect(rows.map((row) => row.action)).to.deep.equal(['api_client.secret_rotated', 'api_client.created']);
      expect(JSON.stringify(rows)).not.to.include(secret);
    });
  });

  describe('400', () => {
    for (const [what, body, field] of [
      ['a negative overlap', { overlap_seconds: -1 }, 'overlap_seconds'],
      ['more than a week', { overlap_seconds: 604_801 }, 'overlap_seconds'],
      ['a fraction', { overlap_seconds: 0.5 }, 'overlap_seconds'],
      ['a chosen secret', { client_secret: 'mine' }, 'client_secret'],
    ] as const) {
      it(`refuses ${what}`, async () => {
        const { id } = await createApiClient(server);
        const answer = await rotate(id, body);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(field);
      });
    }
  });

  describe('404', () => {
    it('rejects an unknown id', async () => {
      const answer = await rotate(unknownId('cli'));
      expect(answer.body).to.include({ status: 404, code: 'NOT_FOUND' });
    });
  });

  describe('422', () => {
    it('refuses a known idempotency key with another overlap', async () => {
      const { id } = await createApiClient(server);
      const headers = { 'idempotency-key': 'rotate-2' };
      await server.call('POST', pathOf(id), { body: { overlap_seconds: 1 }, headers });
      const answer = await server.call('POST', pathOf(id), { body: { overlap_seconds: 2 }, headers });
      expect(answer.body).to.include({ status: 422, code: 'IDEMPOTENCY_KEY_REUSED' });
    });
  });
});
