import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { hiddenFields, TestBrowser, withoutIsolation } from '../support/browser.ts';
import { dumpDatabase } from '../support/database-file.ts';
import { startEmulatedVendor } from '../support/emulators.ts';
import { createKeyedAccount } from '../support/keyed-api.ts';
import { allowVerifyUrls, VERIFY_URL } from '../support/links.ts';
import { createConnection } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const ACCOUNTS = '/api/v1/connected_accounts';
const ADA = 'ghp_tokenOfAda00000000000001';
const WRONG = 'ghp_neverIssued0000000000009';

describe('checkConnectedAccount', () => {
  let github: Upstream;
  let server: TestServer;
  const accepted = new Set([`Bearer ${ADA}`]);

  before(async () => {
    github = await startEmulatedVendor('github', {
      seed: { users: [{ login: 'nobody' }, { login: 'ada' }] },
      tokens: { [ADA]: { login: 'ada', scopes: ['repo'] } },
      accepts: ({ headers }) => accepted.has(headers['authorization'] ?? ''),
    });
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: github.endpointOverride('https://api.github.com') },
    });
    await allowVerifyUrls(server, VERIFY_URL);
    // The first account decides the type of the connection.
    await createAccount(server, { token: ADA });
  });
  after(async () => {
    await server.stop();
    await github.stop();
  });

  const check = (id: string) => server.call('POST', `${ACCOUNTS}:check`, { body: { id } });
  const statusOf = async (id: string) =>
    (await server.call('GET', `${ACCOUNTS}/details?id=${id}`)).body.connected_account;

  describe('200', () => {
    it('EXPIRED for credentials that the provider rejects, after which the account cannot be used', async () => {
      const { id } = await createAccount(server, { token: WRONG });
      const { status, body, text } = await check(id);
      expect(status, text).to.equal(200);
      expect(body).to.include({ id, outcome: 'EXPIRED' });
      expect(body.reason).to.equal('GitHub did not accept the credentials. Authorize the account again.');
      expect(await statusOf(id)).to.include({ status: 'EXPIRED', status_reason: body.reason });
      expect((await auditOf(server, id)).map(({ action }) => action)).to.include('connected_account.expired');
      const calls = github.requests.length;
      expect((await check(id)).body.outcome, 'is not asked again').to.equal('EXPIRED');
      expect(github.requests.length).to.equal(calls);
    });

    it('ACTIVE for credentials that it accepts, by one read-only call', async () => {
      const { id } = await createAccount(server, { token: ADA });
      const calls = github.requests.length;
      const { body } = await check(id);
      expect(body).to.include({ id, outcome: 'ACTIVE', reason: '' });
      expect(github.requests.slice(calls).map(({ method, target }) => [method, target])).to.deep.equal([
        ['GET', '/user'],
      ]);
      expect(await statusOf(id)).to.include({ status: 'ACTIVE' });
    });

    it('UNKNOWN for a provider without a call for the check', async () => {
      const { id } = await createKeyedAccount(server);
      const { body } = await check(id);
      expect(body.outcome).to.equal('UNKNOWN');
      expect(body.reason).to.match(/has no request/);
    });
  });

  it('UNKNOWN when the provider fails, forbids the call, or is unreachable; the account stays active', async () => {
    for (const status of [500, 503, 403, 404, 429, 302]) {
      const broken = await startBroken(status);
      try {
        const { id } = await createAccount(broken.server, { token: ADA });
        const { body, text } = await broken.server.call('POST', `${ACCOUNTS}:check`, { body: { id } });
        expect(body.outcome, `${status}: ${text}`).to.equal('UNKNOWN');
        const details = await broken.server.call('GET', `${ACCOUNTS}/details?id=${id}`);
        expect(details.body.connected_account.status).to.equal('ACTIVE');
      } finally {
        await broken.stop();
      }
    }
  });

  it('UNKNOWN when the token cannot be refreshed because the client is wrong; the account stays active', async () => {
    const tokenEndpoint = await startUpstream();
    tokenEndpoint.handler = (_request, res) => json(res, 401, { error: 'invalid_client' });
    const overrides = [
      github.endpointOverride('https://api.github.com'),
      tokenEndpoint.endpointOverride('https://github.com'),
    ];
    const other = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') } });
    try {
      const client = { client_id: 'the-client', client_secret: 'a-wrong-secret' };
      const connection = await createConnection(other, { connector: 'github', type: 'OAUTH', ...client });
      const grant = { access_token: WRONG, refresh_token: 'a-refresh-token' };
      const connectedAccount = { authorization_details: { oauth_token: grant } };
      const { id } = await createAccount(other, { connector: connection.key_id, connectedAccount });
      const { body, text } = await other.call('POST', `${ACCOUNTS}:check`, { body: { id } });
      expect(tokenEndpoint.requests, 'the refresh was tried').to.have.length(1);
      expect(body.outcome, text).to.equal('UNKNOWN');
      const details = await other.call('GET', `${ACCOUNTS}/details?id=${id}`);
      expect(details.body.connected_account.status).to.equal('ACTIVE');
    } finally {
      await other.stop();
      await tokenEndpoint.stop();
    }
  });

  it('404 for an account that does not exist, or of another environment', async () => {
    expect((await check(unknownId('ca'))).body).to.include({ status: 404, code: 'NOT_FOUND' });
  });

  it('409 for an account that waits for its user, or whose connection is disabled', async () => {
    const waiting = await createAccount(server, { connectedAccount: {} });
    expect((await check(waiting.id)).body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
    const connection = await createConnection(server, { connector: 'github', type: 'BEARER_TOKEN' });
    const { id } = await createAccount(server, { connector: connection.key_id, token: ADA });
    await server.call('POST', `/api/v1/connections/${connection.id}:disable`);
    expect((await check(id)).body).to.include({ status: 409, code: 'CONNECTION_DISABLED' });
  });

  describe('verify_credentials', () => {
    const create = (token: string, identifier: string, headers: Record<string, string> = {}) =>
      server.call('POST', ACCOUNTS, {
        headers,
        body: {
          connector: 'github',
          identifier,
          user_id: identifier,
          verify_credentials: true,
          connected_account: { authorization_details: { static_auth: { details: { token } } } },
        },
      });

    it('refuses an account whose credentials the provider rejects, and stores nothing', async () => {
      const before = dumpDatabase(server)['accounts'];
      const answer = await create(WRONG, 'refused');
      expect(answer.body).to.include({ status: 400, code: 'INVALID_AUTHORIZATION_DETAILS' });
      expect(answer.body.errors).to.deep.equal([
        {
          field: 'connected_account.authorization_details',
          message: 'GitHub did not accept the credentials.',
        },
      ]);
      expect(answer.text).not.to.include(WRONG);
      expect(dumpDatabase(server)['accounts']).to.deep.equal(before);
    });

    it('does not store the Idempotency-Key of a refused request, and replays a response without another check', async () => {
      const headers = { 'idempotency-key': 'verified-once' };
      const send = (token: string) => create(token, 'idempotent', headers);
      expect((await send(WRONG)).status).to.equal(400);
      const created = await send(ADA);
      expect(created.status, created.text).to.equal(201);
      const asked = github.requests.length;
      const replayed = await send(ADA);
      expect([replayed.status, replayed.headers['idempotency-replayed']]).to.deep.equal([201, 'true']);
      expect(github.requests.length).to.equal(asked);
      expect((await send(WRONG)).body.code).to.equal('IDEMPOTENCY_KEY_REUSED');
    });

    it('creates and changes accounts whose credentials it accepts', async () => {
      const created = await create(ADA, 'accepted');
      expect(created.status, created.text).to.equal(201);
      const { id } = created.body.connected_account;
      const update = (token: string) =>
        server.call('PUT', ACCOUNTS, {
          body: {
            id,
            verify_credentials: true,
            connected_account: { authorization_details: { static_auth: { details: { token } } } },
          },
        });
      expect((await update(WRONG)).body).to.include({ status: 400, code: 'INVALID_AUTHORIZATION_DETAILS' });
      expect((await update(ADA)).status).to.equal(200);
    });
  });

  it('runs before the form of a link stores a key', async () => {
    const connection = await createConnection(server, { connector: 'github', type: 'BEARER_TOKEN' });
    const body = { connector: connection.key_id, identifier: 'typist', user_id: 'typist', user_verify_url: VERIFY_URL };
    const { link } = (await server.call('POST', `${ACCOUNTS}/magic_link`, { body })).body;
    const local = `${server.origin}${new URL(link).pathname}`;
    const browser = new TestBrowser();
    const page = await browser.open(local);
    const submit = (token: string) => browser.submit(local, { ...hiddenFields(page), field_token: token });
    const before = dumpDatabase(server)['auth_requests'];
    const refused = await submit(WRONG);
    expect(refused.status).to.equal(400);
    expect(withoutIsolation(refused.text)).to.include('GitHub did not accept this Personal access token.');
    expect(refused.text).not.to.include(WRONG);
    expect(dumpDatabase(server)['auth_requests']).to.deep.equal(before);
    expect((await submit(ADA)).status).to.equal(303);
  });
});

/** Starts a GitHub that returns one status for every request. */
async function startBroken(status: number) {
  const upstream = await startUpstream((_request, res) => json(res, status, { message: 'broken' }));
  const server = await startTestServer({
    env: { VALETKEY_ENDPOINT_OVERRIDES: upstream.endpointOverride('https://api.github.com') },
    overrides: { wait: async () => {} },
  });
  return {
    server,
    async stop() {
      await server.stop();
      await upstream.stop();
    },
  };
}
