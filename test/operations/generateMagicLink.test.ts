import { expect } from 'chai';
import { createAccount, unknownId } from '../support/accounts.ts';
import { auditOf } from '../support/audit.ts';
import { testClock } from '../support/clock.ts';
import {
  accountOf,
  allowVerifyUrls,
  keyConnector,
  requestLink,
  startLinkServer,
  VERIFY_URL,
} from '../support/links.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import type { TestServer } from '../support/server.ts';

describe('generateMagicLink', () => {
  const clock = testClock();
  let server: TestServer;
  let connector: string;

  before(async () => {
    server = await startLinkServer({ overrides: { now: clock.now } });
    connector = await keyConnector(server);
  });
  after(() => server.stop());

  const detail = (answer: { body: { errors: { field: string }[] } }) => answer.body.errors.map(({ field }) => field);

  it('creates a link of 256 random bits that expires after a quarter of an hour', async () => {
    const answer = await requestLink(server, { connector });
    expect(answer.status, answer.text).to.equal(200);
    const { link, expiry } = answer.body;
    expect(Object.keys(answer.body)).to.have.members(['link', 'expiry']);
    expect(link).to.match(new RegExp(`^${server.origin}/connect/[A-Za-z0-9_-]{43}$`));
    expect(Date.parse(expiry)).to.equal(clock.now() + 15 * 60_000);
    expect(answer.headers['cache-control']).to.equal('no-store');
    const again = await requestLink(server, { connector });
    expect(again.body.link).not.to.equal(link);
  });

  it('creates the account for a new key, with the status PENDING_AUTH', async () => {
    await requestLink(server, { connector, identifier: 'new@app.example', user_id: 'user-new' });
    const account = await accountOf(server, 'new@app.example');
    expect(account?.status).to.equal('PENDING_AUTH');
    const actions = (await auditOf(server, account?.id ?? '')).map(({ action }) => action);
    expect(actions).to.have.members(['connected_account.created', 'link.created']);
    const before = await server.call('GET', '/api/v1/connected_accounts');
    await requestLink(server, { connector, identifier: 'new@app.example', user_id: 'user-new' });
    const after = await server.call('GET', '/api/v1/connected_accounts');
    expect(after.body.total_size).to.equal(before.body.total_size);
  });

  it('accepts an account by its id in any state', async () => {
    const details = { static_auth: { details: { api_key: 'a-key' } } };
    const account = await createAccount(server, { connector, connectedAccount: { authorization_details: details } });
    expect((await requestLink(server, { id: account.id })).status).to.equal(200);
    await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id: account.id } });
    expect((await requestLink(server, { id: account.id })).status).to.equal(200);
  });

  it('returns 404 for an unknown id, or one whose other fields do not match', async () => {
    expect((await requestLink(server, { id: unknownId('ca') })).status).to.equal(404);
    const account = await createAccount(server);
    const answer = await requestLink(server, { id: account.id, identifier: 'another' });
    expect(answer.status).to.equal(404);
  });

  it('returns 400 for an incomplete key, and for an unknown connector', async () => {
    const body = { connector, identifier: 'a', user_verify_url: VERIFY_URL };
    const incomplete = await server.call('POST', '/api/v1/connected_accounts/magic_link', { body });
    expect(incomplete.body).to.include({ status: 400, code: 'INCOMPLETE_ACCOUNT_KEY' });
    const unknown = await requestLink(server, { connector: 'no-such-connector' });
    expect(unknown.body).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
  });

  it('returns 400 without a return address, and for one that is not on the list (L4, L5)', async () => {
    for (const user_verify_url of [undefined, 'https://app.example/verify/', 'https://evil.example/verify']) {
      const answer = await requestLink(server, { connector, user_verify_url });
      expect(answer.body, user_verify_url).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      expect(detail(answer)).to.deep.equal(['user_verify_url']);
    }
  });

  it('stores nothing if it creates no link', async () => {
    await requestLink(server, { connector, identifier: 'nobody@app.example', user_verify_url: 'https://evil.example' });
    expect(await accountOf(server, 'nobody@app.example')).to.equal(undefined);
  });

  it('returns 400 for types that need no user', async () => {
    const oauth_config = { token_uri: 'https://auth.acme.test/token' };
    for (const pattern of [
      { type: 'NO_AUTH' },
      { type: 'WORKSPACE_DWD', oauth_config },
      { type: 'TRUSTED_IDP' },
      { type: 'OAUTH_M2M', oauth_config },
      { type: 'CUSTOM' },
    ]) {
      const provider = await createProvider(server, { auth_patterns: [pattern] });
      const answer = await requestLink(server, { connector: provider.identifier });
      expect(answer.body, pattern.type).to.include({ status: 400, code: 'UNSUPPORTED_CONNECTION_TYPE' });
      expect(detail(answer)).to.deep.equal(['connector']);
    }
  });

  it('keeps the draft that the first use creates, and lists its missing settings and the callback URL to register', async () => {
    const link = { connector: 'gitlab', user_id: 'first-use', identifier: 'first-use' };
    const answer = await requestLink(server, link);
    expect(answer.body).to.include({ status: 409, code: 'CONNECTION_NOT_READY' });
    const { connection_id: id, missing_settings: missing, callback_url: callback } = answer.body;
    expect(missing).to.deep.equal(['client_id', 'client_secret']);
    expect(answer.body.next_action.message).to.include(callback);
    const { connection } = (await server.call('GET', `/api/v1/connections/${id}`)).body;
    expect(connection).to.deep.include({ status: 'DRAFT', callback_url: callback, missing_settings: missing });
    expect(callback).to.equal(`${server.origin}/oauth/callback/${id}`);
    const accounts = await server.call('GET', '/api/v1/connected_accounts?identifier=first-use');
    expect(accounts.body.total_size, 'no account is left behind').to.equal(0);
    const again = await requestLink(server, link);
    expect(again.body.connection_id, 'the same draft').to.equal(id);
    const client = { client_id: 'client', client_secret: 'a-client-secret' };
    expect((await server.call('PUT', `/api/v1/connections/${id}`, { body: client })).status).to.equal(200);
    expect((await requestLink(server, link)).status).to.equal(200);
  });

  it('returns 409 for a connection that is a draft, or disabled', async () => {
    const draft = await createConnection(server, { connector: 'github', type: 'OAUTH' });
    const answer = await requestLink(server, { connector: draft.key_id });
    expect(answer.body).to.include({ status: 409, code: 'CONNECTION_NOT_READY' });
    expect(answer.body.next_action).to.include({ type: 'configure', operation_id: 'updateConnection' });
    const client = { client_id: 'client', client_secret: 'a-client-secret' };
    const connection = await createConnection(server, { connector: 'github', type: 'OAUTH', ...client });
    expect((await requestLink(server, { connector: connection.key_id })).status).to.equal(200);
    await server.call('POST', `/api/v1/connections/${connection.id}:disable`);
    const disabled = await requestLink(server, { connector: connection.key_id });
    expect(disabled.body).to.include({ status: 409, code: 'CONNECTION_DISABLED' });
    expect(disabled.body.next_action).to.include({ type: 'configure', operation_id: 'enableConnection' });
  });

  it('returns the same link again for the same idempotency key (C13)', async () => {
    const body = { connector, identifier: 'twice', user_id: 'twice', user_verify_url: VERIFY_URL };
    const send = () =>
      server.call('POST', '/api/v1/connected_accounts/magic_link', { body, headers: { 'idempotency-key': 'once' } });
    const [first, second] = [await send(), await send()];
    expect(second.body).to.deep.equal(first.body);
    expect(second.headers['idempotency-replayed']).to.equal('true');
  });

  it('applies a change of the settings immediately', async () => {
    await server.call('PUT', '/api/v1/environment', { body: { link_lifetime_seconds: 60 } });
    const short = await requestLink(server, { connector });
    expect(Date.parse(short.body.expiry)).to.equal(clock.now() + 60_000);
    await allowVerifyUrls(server, 'https://app.example/other');
    expect((await requestLink(server, { connector })).status).to.equal(400);
    await allowVerifyUrls(server, VERIFY_URL);
    await server.call('PUT', '/api/v1/environment', { body: { link_lifetime_seconds: null } });
  });

  it('accepts any state of at most 512 characters', async () => {
    for (const state of ['', 'x'.repeat(512), '😀'.repeat(512), '\u0000\r\n\t', '"><script>&=%00+ #']) {
      expect((await requestLink(server, { connector, state })).status, JSON.stringify(state)).to.equal(200);
    }
    expect((await requestLink(server, { connector, state: 'x'.repeat(513) })).status).to.equal(400);
  });
});
