import { expect } from 'chai';
import { unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { testClock } from '../support/clock.ts';
import { allowVerifyUrls, VERIFY_URL } from '../support/links.ts';
import { requestSession } from '../support/mcp.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

describe('createMcpSessionToken', () => {
  const clock = testClock();
  let server: TestServer;
  let connectionId: string;

  before(async () => {
    server = await startTestServer({ overrides: { now: clock.now } });
    connectionId = (await createConnection(server)).id;
    await allowVerifyUrls(server, VERIFY_URL);
  });
  after(() => server.stop());

  const ask = (fields: object = {}) => requestSession(server, connectionId, fields);

  it('201 with a token for an hour, and the address that accepts it', async () => {
    const { status, body, headers } = await ask({ user_verify_url: VERIFY_URL });
    expect(status).to.equal(201);
    expect(body.token).to.match(/^vkm_[A-Za-z0-9_-]+$/);
    expect(body.mcp_server_url).to.equal(`http://localhost/mcp/${connectionId}`);
    expect(Date.parse(body.expires_at)).to.equal(clock.now() + 3600_000);
    expect(headers['cache-control']).to.equal('no-store');
    expect(body.token, 'the token says who it is for').to.not.contain(
      Buffer.from('ada@acme.test').toString('base64url').slice(0, 12),
    );
  });

  it('201 for 60 seconds to 24 hours; 400 for less and for more', async () => {
    const statuses = [];
    for (const lifetime_seconds of [59, 60, 86_400, 86_401]) statuses.push((await ask({ lifetime_seconds })).status);
    expect(statuses).to.deep.equal([400, 201, 201, 400]);
  });

  it('201 records the user', async () => {
    await ask({ organization_id: 'org_acme' });
    const row = (await auditOf(server, connectionId)).find(({ action }) => action === 'mcp_session.created');
    expect(row?.details).to.deep.equal({
      user: { organization_id: 'org_acme', user_id: 'user-1', identifier: 'ada@acme.test' },
    });
  });

  it('403 M5: for a narrower token with the same idempotency key, which would return a token that can create links', async () => {
    const ask = (key: string, token: string) =>
      server.call('POST', '/api/v1/mcp/session_tokens', {
        body: { server_id: connectionId, user_id: 'u', identifier: 'ada@acme.test' },
        headers: { 'idempotency-key': key },
        token,
      });
    const narrow = server.token('tools:execute');
    const wide = server.token('tools:execute', 'accounts:write');
    const first = await ask('scoped', wide);
    expect(first.status, first.text).to.equal(201);
    const refused = await ask('scoped', narrow);
    expect(refused.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
    expect(refused.headers['www-authenticate']).to.include('scope="accounts:write"');
    expect((await ask('scoped', wide)).body.token).to.equal(first.body.token);
    const weak = await ask('weak', narrow);
    expect((await ask('weak', wide)).body.token, 'more scopes get no other token').to.equal(weak.body.token);
  });

  it('201 with the same token for one idempotency key, 422 for another user with it', async () => {
    const headers = { 'idempotency-key': 'session-1' };
    const post = (identifier: string) =>
      server.call('POST', '/api/v1/mcp/session_tokens', {
        body: { server_id: connectionId, user_id: 'u', identifier },
        headers,
      });
    const first = await post('ada@acme.test');
    expect((await post('ada@acme.test')).body.token).to.equal(first.body.token);
    expect((await post('eve@acme.test')).status).to.equal(422);
  });

  it('400 names the missing fields of the user', async () => {
    const body = { server_id: connectionId, identifier: 'ada@acme.test' };
    const answer = await server.call('POST', '/api/v1/mcp/session_tokens', { body });
    expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    expect(answer.body.errors[0].field).to.equal('organization_id');
  });

  it('400 for a return address that is not allowed (L5)', async () => {
    const answer = await ask({ user_verify_url: 'https://elsewhere.example/verify' });
    expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
    expect(answer.body.errors[0].field).to.equal('user_verify_url');
  });

  it('404 for an unknown connection or config', async () => {
    for (const id of [unknownId('conn'), unknownId('mcp'), 'anything']) {
      expect((await requestSession(server, id)).body).to.include({ status: 404, code: 'NOT_FOUND' });
    }
  });

  it('403 for a client that may not execute tools', async () => {
    const answer = await requestSession(server, connectionId, {}, { token: server.token('accounts:write') });
    expect(answer.body).to.include({ status: 403, code: 'INSUFFICIENT_SCOPE' });
  });
});
