import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { closeAll } from '../core/net/local.ts';
import { ISSUER, SECRET, type StrictServer, startStrictServer, TOKEN_URI } from '../core/oauth/strict-server.ts';
import { createAccount } from '../support/accounts.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { leave, ORDERED_ONLY, revocationsOf, startWorker } from '../support/revocations.ts';
import { rsaPair } from '../support/rsa-pair.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow } from '../support/states.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const APP = 'https://api.acme.example';
const MACHINE = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
const keys = rsaPair('client');
const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }) as string;
const CLIENTS = [
  { client_id: 'm-basic', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_basic', ...MACHINE },
  { client_id: 'm-post', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_post', ...MACHINE },
  {
    client_id: 'm-jwt',
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...keys.publicKey.export({ format: 'jwk' }), alg: 'RS256' }] },
    ...MACHINE,
  },
];
const REGION = { field_name: 'region', label: 'Region', input_type: 'text' };
const FIELDS = [
  { field_name: 'client_id', label: 'Client id', input_type: 'text', required: true },
  { field_name: 'client_secret', label: 'Client secret', input_type: 'password', required: true },
];

describe('an account of a machine client, at a strict authorization server over sockets', () => {
  let as: StrictServer;
  let app: Upstream;
  let server: TestServer;
  let clock: TestClock;
  /** The authorization headers of the token requests. */
  let authorizations: (string | undefined)[];
  /** Runs while a token request is in progress. */
  let during: () => Promise<void>;

  beforeEach(async () => {
    authorizations = [];
    during = async () => {};
    const before = async ({ headers, url }: IncomingMessage) => {
      if (url !== '/token') return;
      authorizations.push(headers.authorization);
      await during();
    };
    as = await startStrictServer({ clients: CLIENTS, before });
    app = await startUpstream(async ({ headers }, res) => {
      const alive = await as.isAlive(String(headers['authorization']).replace('Bearer ', ''));
      json(res, alive ? 200 : 401, { alive });
    });
    clock = testClock(Date.now());
    server = await startTestServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: `${app.endpointOverride(APP)},${ISSUER}=${as.origin}` },
      overrides: { now: clock.now, jobs: ORDERED_ONLY },
    });
  });
  afterEach(async () => {
    await server.stop();
    await app.stop();
    await closeAll();
  });

  interface Client {
    id: string;
    secret?: string;
    method?: string;
    typed?: boolean;
    /** The endpoints in the pattern of the provider. */
    endpoints?: object;
  }

  /** The connection of the account that was created last. */
  let connectionId: string;

  async function connect(client: Client) {
    const { id: client_id, secret: client_secret = SECRET, method = 'client_secret_basic', typed = false } = client;
    const { endpoints = { issuer: ISSUER, token_uri: TOKEN_URI } } = client;
    const oauth_config = { ...endpoints, client_auth_method: method };
    const { identifier } = await createProvider(server, {
      proxy_enabled: true,
      proxy_url: APP,
      auth_patterns: [{ type: 'OAUTH_M2M', account_fields: [REGION], oauth_config, ...(typed && { fields: FIELDS }) }],
    });
    const settings = typed ? {} : { client_id, client_secret };
    const { key_id: connector, id } = await createConnection(server, { connector: identifier, ...settings });
    connectionId = id;
    const details = { static_auth: { details: { client_id, client_secret } } };
    const connectedAccount = typed ? { authorization_details: details } : {};
    const account = await createAccount(server, { connector, connectedAccount });
    expect(account['status']).to.equal('ACTIVE');
    return account.id;
  }

  const get = (id: string) => execute(server, id, 'http_get', { path: '/' });

  async function tokenOf(id: string): Promise<Record<string, unknown> | undefined> {
    const { status, body, text } = await server.call('GET', `/api/v1/connected_accounts/auth?id=${id}`);
    expect(status, text).to.equal(200);
    return body.connected_account.authorization_details.oauth_token;
  }

  it('is rejected with a wrong secret, sends no call, and stays ACTIVE (negative control)', async () => {
    const id = await connect({ id: 'm-basic', secret: 'wrong' });
    const { body } = await get(id);
    expect(body.tool_error).to.include({ kind: 'upstream_auth', retryable: false });
    expect(app.requests).to.deep.equal([]);
    expect((await accountRow(server, id)).status).to.equal('ACTIVE');
    expect(await tokenOf(id)).to.equal(undefined);
  });

  it('is rejected with the key of another client (negative control)', async () => {
    const secret = pemOf(rsaPair('stranger').privateKey);
    const id = await connect({ id: 'm-jwt', method: 'private_key_jwt', secret });
    expect((await get(id)).body.tool_error).to.include({ kind: 'upstream_auth' });
    expect(app.requests).to.deep.equal([]);
  });

  const ways: [id: string, method: string, secret: string][] = [
    ['m-basic', 'client_secret_basic', SECRET],
    ['m-post', 'client_secret_post', SECRET],
    ['m-jwt', 'private_key_jwt', pemOf(keys.privateKey)],
  ];
  for (const [id, method, secret] of ways) {
    it(`obtains its token by ${method}, and the application accepts it`, async () => {
      const account = await connect({ id, method, secret });
      const { status, body, text } = await get(account);
      expect(status, text).to.equal(200);
      expect(body.data).to.deep.equal({ alive: true });
      const isBasic = authorizations.map((value) => value?.startsWith('Basic ') ?? false);
      expect(isBasic).to.deep.equal([method === 'client_secret_basic']);
    });
  }

  it('may have its own client, which stays stored next to its token', async () => {
    const id = await connect({ id: 'm-basic', typed: true });
    expect((await get(id)).status).to.equal(200);
    expect(await tokenOf(id)).to.have.keys('access_token', 'scopes');
    expect((await accountRow(server, id)).publicDetails).to.deep.equal({
      static_auth: { details: { client_id: 'm-basic' } },
    });
    clock.advance(3_599_000);
    expect((await get(id)).status).to.equal(200);
    expect(as.requests()).to.equal(2);
  });

  it('keeps its token until shortly before its expiry, and returns it', async () => {
    const id = await connect({ id: 'm-basic' });
    const first = await tokenOf(id);
    expect(await as.isAlive(String(first?.['access_token']))).to.equal(true);
    await get(id);
    clock.advance(3_500_000);
    expect(await tokenOf(id)).to.deep.equal(first);
    expect(as.requests()).to.equal(1);
    clock.advance(99_000);
    expect(await tokenOf(id)).not.to.deep.equal(first);
    expect(as.requests()).to.equal(2);
  });

  it('sends one request for 50 callers (R1)', async () => {
    const id = await connect({ id: 'm-basic' });
    const answers = await Promise.all(Array.from({ length: 50 }, () => get(id)));
    expect(answers.map(({ status }) => status)).to.deep.equal(Array(50).fill(200));
    expect(app.requests).to.have.length(50);
    expect(as.requests()).to.equal(1);
  });

  it('obtains one new token when the application rejects the current one (E10)', async () => {
    const id = await connect({ id: 'm-basic' });
    const first = await tokenOf(id);
    await as.revoke(String(first?.['access_token']));
    clock.advance(60_000);
    expect((await get(id)).status).to.equal(200);
    expect([as.requests(), app.requests.length]).to.deep.equal([2, 2]);
    app.handler = (_request, res) => json(res, 401, {});
    clock.advance(60_000);
    expect((await get(id)).body.tool_error).to.include({ kind: 'upstream_auth' });
    expect([as.requests(), app.requests.length]).to.deep.equal([3, 4]);
  });

  it('deletes the token that was issued for other settings, and keeps it when unrelated settings change', async () => {
    const id = await connect({ id: 'm-basic' });
    const change = async (api_config: object) => {
      const body = { id, connected_account: { api_config } };
      const { status, text } = await server.call('PUT', '/api/v1/connected_accounts', { body });
      expect(status, text).to.equal(200);
    };
    await get(id);
    await change({ note: 'of no concern' });
    await get(id);
    expect(as.requests()).to.equal(1);
    await change({ region: 'us' });
    expect((await accountRow(server, id)).temporarySealed).to.equal(null);
    expect((await get(id)).status).to.equal(200);
    expect(as.requests()).to.equal(2);
  });

  it('finds the token endpoint by the issuer alone, once for all its requests', async () => {
    const id = await connect({ id: 'm-basic', endpoints: { issuer: ISSUER } });
    expect((await get(id)).status).to.equal(200);
    clock.advance(3_599_000);
    expect((await get(id)).status).to.equal(200);
    expect(as.requests()).to.equal(2);
  });

  for (const [what, change] of [
    ['secret', { client_secret: 'another' }],
    ['client id', { client_id: 'm-post' }],
    ['scopes', { scopes: ['openid'] }],
  ] as const) {
    it(`deletes the token that it obtained with another ${what} of its connection (R3)`, async () => {
      const id = await connect({ id: 'm-basic' });
      await get(id);
      const changed = await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: change });
      expect(changed.status, changed.text).to.equal(200);
      const { temporarySealed, publicDetails } = await accountRow(server, id);
      expect([temporarySealed, publicDetails]).to.deep.equal([null, {}]);
      await get(id);
      expect(as.requests()).to.equal(2);
    });
  }

  describe('whose token is revoked at its issuer', () => {
    let worker: ReturnType<typeof startWorker>;

    beforeEach(() => {
      worker = startWorker(server);
    });
    afterEach(() => worker.stop());

    async function revoked(id: string): Promise<string[]> {
      await worker.run();
      return (await revocationsOf(server, id)).map(({ status, reason }) => reason || status);
    }

    async function change(settings: object): Promise<void> {
      const { status, text } = await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: settings });
      expect(status, text).to.equal(200);
    }

    async function obtained(client: Client): Promise<{ id: string; token: string }> {
      const id = await connect(client);
      const token = String((await tokenOf(id))?.['access_token']);
      expect(await as.isAlive(token)).to.equal(true);
      return { id, token };
    }

    it('is refused with a client that the provider rejects (negative control)', async () => {
      const { id, token } = await obtained({ id: 'm-basic' });
      await change({ client_secret: 'another' });
      expect(await revoked(id)).to.deep.equal(['The provider does not accept the credential.']);
      expect(await as.isAlive(token)).to.equal(true);
    });

    for (const [what, settings] of [
      ['other scopes', { scopes: ['openid'] }],
      ['another client, by the one that it was of', { client_id: 'm-post', client_secret: 'another' }],
      ['no secret any more, by the one that there was', { client_secret: null }],
      ['the secret that is good now', { client_secret: SECRET }],
    ] as const) {
      it(`is revoked after its connection got ${what}, and the account stays active`, async () => {
        const { id, token } = await obtained({ id: 'm-basic' });
        await change(settings);
        expect(await revoked(id)).to.deep.equal(['REVOKED']);
        expect(await as.isAlive(token)).to.equal(false);
        expect((await accountRow(server, id)).status).to.equal('ACTIVE');
      });
    }

    it("is revoked with the account's own client", async () => {
      const { id, token } = await obtained({ id: 'm-basic', typed: true });
      await change({ scopes: ['openid'] });
      expect(await revoked(id)).to.deep.equal(['REVOKED']);
      expect(await as.isAlive(token)).to.equal(false);
      expect((await get(id)).status, 'another is obtained').to.equal(200);
    });

    for (const [what, typed, connected_account] of [
      ['other settings', false, { api_config: { region: 'us' } }],
      [
        'another secret, by the one of before',
        true,
        { authorization_details: { static_auth: { details: { client_secret: 'new' } } } },
      ],
    ] as const) {
      it(`is revoked after its account got ${what}`, async () => {
        const { id, token } = await obtained({ id: 'm-basic', typed });
        const { status } = await server.call('PUT', '/api/v1/connected_accounts', { body: { id, connected_account } });
        expect(status).to.equal(200);
        expect(await revoked(id)).to.deep.equal(['REVOKED']);
        expect(await as.isAlive(token)).to.equal(false);
      });
    }

    it('is revoked also when the account was disconnected and reconnected before', async () => {
      const { id, token } = await obtained({ id: 'm-basic' });
      await leave(server, id, 'disconnect');
      const body = { id, connected_account: { authorization_details: {} } };
      expect((await server.call('PUT', '/api/v1/connected_accounts', { body })).status).to.equal(200);
      expect(await revoked(id)).to.deep.equal(['REVOKED']);
      expect(await as.isAlive(token)).to.equal(false);
    });

    it('stays valid when nothing that it depends on was changed', async () => {
      const { id, token } = await obtained({ id: 'm-basic' });
      await change({ organization_name: 'Acme' });
      expect(await revoked(id)).to.deep.equal([]);
      expect(await as.isAlive(token)).to.equal(true);
    });
  });

  it('does not store a token that was requested with the previous scopes (R3)', async () => {
    const id = await connect({ id: 'm-basic' });
    during = async () => {
      during = async () => {};
      await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: { scopes: ['openid'] } });
    };
    expect((await get(id)).status).to.equal(200);
    expect(as.requests()).to.equal(2);
  });

  it('keeps the token when its connection changes in settings that it does not depend on', async () => {
    const id = await connect({ id: 'm-basic' });
    await get(id);
    await server.call('PUT', `/api/v1/connections/${connectionId}`, { body: { organization_name: 'Acme' } });
    await get(id);
    expect(as.requests()).to.equal(1);
  });

  it('is reconnected with an empty object after it was disconnected', async () => {
    const id = await connect({ id: 'm-basic' });
    await get(id);
    await server.call('POST', '/api/v1/connected_accounts:disconnect', { body: { id } });
    expect((await get(id)).body).to.include({ code: 'ACCOUNT_NOT_ACTIVE' });
    const put = (connected_account: object) =>
      server.call('PUT', '/api/v1/connected_accounts', { body: { id, connected_account } });
    expect((await put({ api_config: { region: 'us' } })).body.connected_account.status).to.equal('DISCONNECTED');
    expect((await put({ authorization_details: {} })).body.connected_account.status).to.equal('ACTIVE');
    expect((await get(id)).status).to.equal(200);
  });

  it('previews a call before it has a token, without requesting one', async () => {
    const id = await connect({ id: 'm-basic' });
    const { body } = await execute(server, id, 'http_get', { path: '/' }, { body: { dry_run: true } });
    expect(body.dry_run_request?.headers, JSON.stringify(body)).to.include({ authorization: 'Bearer [secret]' });
    expect(as.requests()).to.equal(0);
  });

  it('deletes the token that it obtained as another client', async () => {
    const id = await connect({ id: 'm-basic', typed: true });
    await get(id);
    const details = { static_auth: { details: { client_secret: 'wrong' } } };
    const body = { id, connected_account: { authorization_details: details } };
    expect((await server.call('PUT', '/api/v1/connected_accounts', { body })).status).to.equal(200);
    expect((await get(id)).body.tool_error).to.include({ kind: 'upstream_auth' });
    expect(app.requests).to.have.length(1);
  });
});
