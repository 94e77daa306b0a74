import { expect } from 'chai';
import { auditOf } from '../support/audit.ts';
import { testClock } from '../support/clock.ts';
import { accountOf, keyConnector, makeLink, startLinkServer, typeKey, verifyUser } from '../support/links.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

describe('verifyUser', () => {
  const clock = testClock();
  let server: TestServer;
  let connector: string;
  let made = 0;

  before(async () => {
    server = await startLinkServer({ overrides: { now: clock.now } });
    connector = await keyConnector(server);
  });
  after(() => server.stop());

  /** Returns a link that a new user has finished. */
  async function finished() {
    made += 1;
    const identifier = `verified-${made}@app.example`;
    const { authRequestId } = await typeKey(await makeLink(server, { connector, identifier, user_id: `user-${made}` }));
    return { identifier, authRequestId };
  }

  it('makes the account ACTIVE with the typed credentials, and returns the address for the user', async () => {
    const { identifier, authRequestId } = await finished();
    expect((await accountOf(server, identifier))?.status).to.equal('PENDING_VERIFICATION');
    const answer = await verifyUser(server, authRequestId, identifier);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.body).to.deep.equal({
      post_user_verify_redirect_url: `${server.origin}/connect/connected?application=https%3A%2F%2Fapp.example`,
    });
    const { id, status } = (await accountOf(server, identifier)) as { id: string; status: string };
    expect(status).to.equal('ACTIVE');
    const auth = await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
    expect(auth.body.connected_account.authorization_details).to.deep.equal({
      static_auth: { details: { api_key: 'secret-typed-key' } },
    });
    const [entry] = (await auditOf(server, id)).filter(({ action }) => action === 'connected_account.connected');
    expect(entry?.details).to.include({ from_generation: 1, to_generation: 2 });
  });

  it('redirects the user to the address of the connection (L19)', async () => {
    const target = 'https://app.example/done';
    const settings = { connector, post_user_verify_redirect_url: target };
    const connection = await createConnection(server, settings);
    const link = await makeLink(server, { connector: connection.key_id, identifier: 'sent', user_id: 'sent' });
    const { authRequestId } = await typeKey(link);
    const answer = await verifyUser(server, authRequestId, 'sent');
    expect(answer.body.post_user_verify_redirect_url).to.equal(target);
  });

  it('returns 403 for another identifier, and the link can still be verified', async () => {
    const { identifier, authRequestId } = await finished();
    const answer = await verifyUser(server, authRequestId, 'mallory@app.example');
    expect(answer.body).to.include({ status: 403, code: 'IDENTIFIER_MISMATCH' });
    expect(answer.text).not.to.include(identifier);
    expect((await verifyUser(server, authRequestId, identifier)).status).to.equal(200);
  });

  it('returns the same 404 for unknown, verified and expired requests', async () => {
    const { identifier, authRequestId } = await finished();
    expect((await verifyUser(server, authRequestId, identifier)).status).to.equal(200);
    const old = await finished();
    clock.advance(10 * 60_000);
    const answers = [
      await verifyUser(server, authRequestId, identifier),
      await verifyUser(server, old.authRequestId, old.identifier),
      await verifyUser(server, 'x'.repeat(43), identifier),
    ];
    const bodies = answers.map(({ body: { request_id: _id, ...body } }) => body);
    expect(bodies[0]).to.include({ status: 404, code: 'NOT_FOUND' });
    expect(new Set(bodies.map((body) => JSON.stringify(body)))).to.have.property('size', 1);
  });

  it('returns 400 for missing or malformed fields', async () => {
    for (const body of [
      {},
      { auth_request_id: 'x' },
      { identifier: 'x' },
      { auth_request_id: 'a b', identifier: 'x' },
    ]) {
      const answer = await server.call('POST', '/api/v1/connected_accounts/user/verify', { body });
      expect(answer.body, JSON.stringify(body)).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    }
  });

  it('returns the same again for the same idempotency key (C13)', async () => {
    const { identifier, authRequestId } = await finished();
    const body = { auth_request_id: authRequestId, identifier };
    const send = () =>
      server.call('POST', '/api/v1/connected_accounts/user/verify', { body, headers: { 'idempotency-key': 'v-1' } });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect(second.headers['idempotency-replayed']).to.equal('true');
  });
});
