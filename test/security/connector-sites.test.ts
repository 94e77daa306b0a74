import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { TestBrowser } from '../support/browser.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { requestLink, startLinkServer, submitLink } from '../support/links.ts';
import { createConnection } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const OWN = 'https://git.acme.example';
const EVIL = 'https://evil.example';
const SECRET = 'canary-of-the-operator';
const HOUR = 3_600_000;

/** Users and applications that choose a host must not be able to send stored credentials or the operator's client. */
describe('hosts that accounts choose', () => {
  let vendor: Upstream;
  let own: Upstream;
  let evil: Upstream;
  let server: TestServer;
  let clock: TestClock;

  before(async () => {
    const token = { access_token: 'fresh', refresh_token: 'next', token_type: 'Bearer', expires_in: 7200 };
    const respond = (request: { target: string }, res: Parameters<typeof json>[0]) =>
      json(res, 200, request.target.includes('/oauth/') ? token : []);
    [vendor, own, evil] = [await startUpstream(respond), await startUpstream(respond), await startUpstream(respond)];
    const overrides = [
      vendor.endpointOverride('https://gitlab.com'),
      own.endpointOverride(OWN),
      evil.endpointOverride(EVIL),
    ];
    clock = testClock(Date.now());
    server = await startLinkServer({
      env: { VALETKEY_ENDPOINT_OVERRIDES: overrides.join(',') },
      overrides: { now: clock.now },
    });
  });
  beforeEach(() => {
    for (const upstream of [vendor, own, evil]) upstream.requests.length = 0;
  });
  after(async () => {
    await server.stop();
    await Promise.all([vendor.stop(), own.stop(), evil.stop()]);
  });

  const connection = (type: string, allowed: string[] | null) =>
    createConnection(server, {
      connector: 'gitlab',
      type,
      allowed_addresses: allowed,
      ...(type === 'OAUTH' && { client_id: 'app', client_secret: SECRET }),
    });
  const TOKENS = { oauth_token: { access_token: 'stored', refresh_token: 'stored-refresh' } };
  const KEY = { static_auth: { details: { token: 'glpat-stored-token' } } };
  const account = (connector: string, host: string | undefined, details: object) => {
    const api_config = host === undefined ? {} : { host };
    return createAccount(server, { connector, connectedAccount: { api_config, authorization_details: details } });
  };
  const move = (id: string, host: string | null) =>
    server.call('PUT', '/api/v1/connected_accounts', { body: { id, connected_account: { api_config: { host } } } });
  const list = (id: string) => execute(server, id, 'gitlab_list_projects');

  for (const [type, details] of [
    ['OAUTH', TOKENS],
    ['BEARER_TOKEN', KEY],
  ] as const) {
    describe(type, () => {
      for (const [what, allowed] of [
        ['without a list', null],
        ['with a list', [OWN]],
      ] as const) {
        it(`rejects a host that no operator listed, on a connection ${what}`, async () => {
          const { key_id: connector } = await connection(type, allowed as string[] | null);
          const body = { connector, identifier: 'eve', user_id: 'eve' };
          const connected_account = { api_config: { host: 'evil.example' }, authorization_details: details };
          const answer = await server.call('POST', '/api/v1/connected_accounts', {
            body: { ...body, connected_account },
          });
          expect([answer.status, answer.body.code]).to.deep.equal([400, 'INVALID_API_CONFIG']);
          expect(answer.body.errors).to.deep.equal([
            {
              field: 'connected_account.api_config.host',
              message: 'must be an address listed in allowed_addresses of the connection, or one below it',
            },
          ]);
          const { id } = await account(connector, undefined, details);
          expect((await move(id, 'evil.example')).status).to.equal(400);
          expect((await list(id)).status).to.equal(200);
          expect(evil.requests).to.have.length(0);
        });
      }

      it('sends a credential to a listed host, and to no other', async () => {
        const { key_id: connector } = await connection(type, [OWN]);
        const { id } = await account(connector, 'git.acme.example', details);
        expect((await list(id)).status).to.equal(200);
        expect(own.requests).to.have.length(1);
        expect(vendor.requests).to.have.length(0);
      });

      it('does not send a stored credential to another host', async () => {
        const { key_id: connector } = await connection(type, [OWN, EVIL]);
        const { id } = await account(connector, 'git.acme.example', details);
        const moved = await move(id, 'evil.example');
        expect([moved.status, moved.body.connected_account?.status]).to.deep.equal([200, 'PENDING_AUTH']);
        expect((await list(id)).status).to.equal(409);
        clock.advance(3 * HOUR);
        await list(id);
        expect([evil.requests.length, own.requests.length]).to.deep.equal([0, 0]);
      });

      it('disables accounts at a host that the operator removed from the list', async () => {
        const { id: connectionId, key_id: connector } = await connection(type, [OWN]);
        const { id } = await account(connector, 'git.acme.example', details);
        const path = `/api/v1/connections/${connectionId}`;
        const changed = await server.call('PUT', path, { body: { allowed_addresses: [EVIL] } });
        if (changed.status === 200) expect((await list(id)).status).to.equal(400);
        else expect(changed.body.errors[0].field).to.equal('client_secret');
        expect(evil.requests).to.have.length(0);
      });
    });
  }

  it('uses the client of a connection at the listed host: for refreshes and for consent', async () => {
    const { key_id: connector } = await connection('OAUTH', [OWN]);
    const details = { oauth_token: { refresh_token: 'stored-refresh' } };
    const { id } = await account(connector, 'git.acme.example', details);
    expect((await list(id)).status).to.equal(200);
    const refreshed = own.requests.find(({ target }) => target.startsWith('/oauth/token'));
    expect(refreshed?.body).to.contain(SECRET);

    const pending = await account(connector, 'git.acme.example', {});
    const link = await requestLink(server, { id: pending.id });
    const page = await submitLink(new TestBrowser(), link.body.link);
    expect(new URL(page.location ?? '').origin).to.equal(OWN);
    expect([vendor.requests.length, evil.requests.length]).to.deep.equal([0, 0]);
  });

  it('does not use the client outside the listed part of a host', async () => {
    const { key_id: connector } = await connection('OAUTH', [`${OWN}/api/v4`]);
    const { id } = await account(connector, 'git.acme.example', { oauth_token: { refresh_token: 'stored-refresh' } });
    expect((await list(id)).status).not.to.equal(200);
    expect(own.requests).to.have.length(0);
  });

  it('asks for no host before consent, and for one if a token is typed', async () => {
    const { key_id: oauth } = await connection('OAUTH', null);
    const consent = await submitLink(new TestBrowser(), (await requestLink(server, { connector: oauth })).body.link);
    expect(new URL(consent.location ?? '').origin).to.equal('https://gitlab.com');

    const { key_id: typed } = await connection('BEARER_TOKEN', null);
    const { link } = (await requestLink(server, { connector: typed })).body;
    const browser = new TestBrowser();
    const form = await submitLink(browser, link, { token: 'glpat-typed-token', host: 'evil.example' });
    expect(form.status).to.equal(400);
    expect(form.text).to.contain('is not an allowed address');
    expect(evil.requests).to.have.length(0);
  });

  it('rejects an unlisted host in a production environment', async () => {
    const production = await addSecondEnvironment(server, { kind: 'PRODUCTION' });
    const { key_id: connector } = await createConnection(production, { connector: 'gitlab', type: 'BEARER_TOKEN' });
    const connected_account = { api_config: { host: 'evil.example' }, authorization_details: KEY };
    const body = { connector, identifier: 'eve', user_id: 'eve', connected_account };
    expect((await production.call('POST', '/api/v1/connected_accounts', { body })).status).to.equal(400);
  });
});
