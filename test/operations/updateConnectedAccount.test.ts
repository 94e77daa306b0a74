import { expect } from 'chai';
import type { AccountStatus } from '../../db/store.ts';
import { createAccount, unknownId } from '../support/accounts.ts';
import { createConnector } from '../support/all-types.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { dumpDatabase } from '../support/database-file.ts';
import { NO_BACKGROUND } from '../support/no-background.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow, putInState } from '../support/states.ts';
import type { Upstream } from '../support/upstream.ts';
import { startUpstream } from '../support/upstream.ts';

const PATH = '/api/v1/connected_accounts';
const STATES: AccountStatus[] = ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'];

describe('updateConnectedAccount', () => {
  let server: TestServer;
  let clock: TestClock;
  let upstream: Upstream;
  let elsewhere: Upstream;
  /** A connector that accepts any API key. */
  let desk: string;

  before(async () => {
    clock = testClock();
    [upstream, elsewhere] = [await startUpstream(), await startUpstream()];
    server = await startTestServer({
      env: { VALETKEY_EGRESS_ALLOW: `127.0.0.1:${upstream.port},127.0.0.1:${elsewhere.port}` },
      // Tests compare the whole database before and after a request.
      overrides: { now: clock.now, ...NO_BACKGROUND },
    });
    desk = await createConnector(server, [{ type: 'API_KEY' }]);
  });
  after(async () => {
    await server.stop();
    await Promise.all([upstream.stop(), elsewhere.stop()]);
  });

  const update = (id: string, connected_account: object, token?: string): Promise<TestResponse> =>
    server.call('PUT', PATH, { body: { id, connected_account }, ...(token && { token }) });
  const withKey = (api_key: unknown) => ({ authorization_details: { static_auth: { details: { api_key } } } });
  const withDetails = (details: object) => ({ authorization_details: { static_auth: { details } } });
  const auth = async (id: string) => (await server.call('GET', `${PATH}/auth?id=${id}`)).body.connected_account;
  const create = (connectedAccount: Record<string, unknown>, connector = desk) =>
    createAccount(server, { connector, connectedAccount });

  describe('200', () => {
    it('returns the account in full, and the returned values are stored', async () => {
      const account = await create({ api_config: { region: 'eu' }, ...withKey('first') });
      clock.advance(60_000);
      const { body } = await update(account.id, { api_config: { pages: 2 }, ...withKey('second') });
      expect(Object.keys(body)).to.deep.equal(['connected_account']);
      expect(body.connected_account).to.deep.equal({
        ...account,
        api_config: { region: 'eu', pages: 2 },
        authorization_details: { static_auth: { details: { api_key: 'second' } } },
        updated_at: new Date(clock.now()).toISOString(),
      });
      expect(await auth(account.id)).to.deep.equal(body.connected_account);
    });

    it('changes neither the credentials with the settings, nor the settings with the credentials', async () => {
      const { id } = await create({ api_config: { region: 'eu' }, ...withKey('first') });
      await update(id, { api_config: { region: 'us' } });
      expect((await auth(id)).authorization_details.static_auth.details).to.deep.equal({ api_key: 'first' });
      await update(id, withKey('second'));
      expect((await auth(id)).api_config).to.deep.equal({ region: 'us' });
    });

    it('changes nothing for an empty change, not even updated_at', async () => {
      const account = await create({ api_config: { region: 'eu' }, ...withKey('first') });
      for (const empty of [
        {},
        { api_config: {} },
        { authorization_details: {} },
        { api_config: { region: 'eu', x: null } },
      ]) {
        clock.advance(60_000);
        const { status, body } = await update(account.id, empty);
        expect(status).to.equal(200);
        expect(body.connected_account, JSON.stringify(empty)).to.deep.equal(account);
      }
    });

    it('encrypts new credentials under a new generation and a new data key', async () => {
      const { id } = await create(withKey('first'));
      const before = await accountRow(server, id);
      await update(id, withKey('second'));
      const after = await accountRow(server, id);
      expect(after.credentialGeneration).to.equal(before.credentialGeneration + 1);
      expect(after.wrappedDataKey?.equals(before.wrappedDataKey as Buffer)).to.equal(false);
      await update(id, { api_config: { a: 1 } });
      expect((await accountRow(server, id)).credentialGeneration).to.equal(after.credentialGeneration);
    });

    for (const state of STATES) {
      it(`makes an account ACTIVE that is ${state}, with usable credentials`, async () => {
        const { id } = await create(withKey('first'));
        await putInState(server, id, state, 'A reason.');
        const { body } = await update(id, withKey('second'));
        expect(body.connected_account).to.include({ status: 'ACTIVE', status_reason: '' });
      });

      it(`keeps the status ${state} of an account whose settings alone change`, async () => {
        const { id } = await create(withKey('first'));
        await putInState(server, id, state, 'A reason.');
        const { body } = await update(id, { api_config: { a: 1 }, authorization_details: {} });
        expect(body.connected_account).to.include({ status: state, status_reason: 'A reason.' });
      });
    }

    it('makes an account ACTIVE that was created without credentials, and completes its connection', async () => {
      const client = { client_id: 'id', client_secret: 'secret-of-the-client' };
      const settings = { connector: 'linear', key_id: 'linear-eu', type: 'OAUTH', ...client };
      const { connection } = (await server.call('POST', '/api/v1/connections', { body: settings })).body;
      const { id } = await create({}, 'linear-eu');
      const { body } = await update(id, { authorization_details: { oauth_token: { access_token: 't' } } });
      expect(body.connected_account.status).to.equal('ACTIVE');
      const { body: after } = await server.call('GET', `/api/v1/connections/${connection.id}`);
      expect(after.connection.status).to.equal('COMPLETED');
    });

    it('hides stored credentials from a client that may not read them (C4)', async () => {
      const { id } = await create(withKey('stored-by-others'));
      const token = server.token('accounts:write');
      for (const change of [{}, { api_config: { a: 1 } }, withKey('given-by-itself')]) {
        const answer = await update(id, change, token);
        expect(answer.status).to.equal(200);
        expect(answer.body.connected_account.authorization_details).to.deep.equal({ static_auth: { details: {} } });
        expect(answer.text).not.to.match(/stored-by-others|given-by-itself/);
      }
    });

    it('works for an account whose connection is disabled, so that it can be corrected first', async () => {
      const account = await create(withKey('first'));
      await server.call('POST', `/api/v1/connections/${account['connection_id']}:disable`);
      expect((await update(account.id, withKey('second'))).status).to.equal(200);
      await server.call('POST', `/api/v1/connections/${account['connection_id']}:enable`);
    });
  });

  describe('200 with settings that move the account to another host (P2)', () => {
    const SECRET = 'secret-for-the-old-host';
    const baseOf = ({ port }: Upstream) => ({ base_url: `http://127.0.0.1:${port}/v1` });
    const details = (secret: string) => ({ static_auth: { details: { username: 'ada', password: secret } } });

    /** Creates an account of the type BASIC, which has two fields, one of which is not secret. */
    async function createBasic() {
      const body = { connector: 'http', key_id: `http-${unique()}`, type: 'BASIC' };
      const { connection } = (await server.call('POST', '/api/v1/connections', { body })).body;
      return create({ api_config: baseOf(upstream), authorization_details: details(SECRET) }, connection.key_id);
    }

    const execute = (id: string) =>
      server.call('POST', '/api/v1/execute_tool', {
        body: { connected_account_id: id, tool_name: 'http_get', tool_input: { path: '/me' } },
      });
    /** Returns the user name and password of each request that a third party has received, as `name:password`. */
    const sentTo = ({ requests }: Upstream) =>
      requests.map(({ headers }) =>
        Buffer.from(String(headers['authorization']).slice('Basic '.length), 'base64').toString(),
      );

    beforeEach(() => {
      upstream.requests.length = 0;
      elsewhere.requests.length = 0;
    });

    it('a tool call sends the credentials to the host that they were given for (control)', async () => {
      const { id } = await createBasic();
      expect((await execute(id)).status).to.equal(200);
      expect(sentTo(upstream)).to.deep.equal([`ada:${SECRET}`]);
    });

    it('the account becomes PENDING_AUTH, and nothing is sent to either host', async () => {
      const { id } = await createBasic();
      const { body } = await update(id, { api_config: baseOf(elsewhere) });
      expect(body.connected_account).to.include({
        status: 'PENDING_AUTH',
        status_reason: 'The hosts of the provider have changed since the account was connected.',
      });
      expect((await execute(id)).body).to.include({ status: 409, code: 'ACCOUNT_NOT_ACTIVE' });
      expect([...upstream.requests, ...elsewhere.requests]).to.deep.equal([]);
    });

    it('M9: the account stays active when the path is extended, but not when it is replaced', async () => {
      const { id } = await createBasic();
      const longer = { api_config: { base_url: `http://127.0.0.1:${upstream.port}/v1/more` } };
      expect((await update(id, longer)).body.connected_account.status).to.equal('ACTIVE');
      const other = { api_config: { base_url: `http://127.0.0.1:${upstream.port}/v2` } };
      expect((await update(id, other)).body.connected_account).to.include({
        status: 'PENDING_AUTH',
        status_reason: 'The base URL of the provider has changed since the account was connected.',
      });
    });

    it('a partial credential, with the move or after it, does not move the old secret to the new host', async () => {
      for (const isAtOnce of [true, false]) {
        const { id } = await createBasic();
        const partial = { authorization_details: { static_auth: { details: { username: 'mallory' } } } };
        if (!isAtOnce) await update(id, { api_config: baseOf(elsewhere) });
        const moved = await update(id, { api_config: baseOf(elsewhere), ...partial });
        expect(moved.body.connected_account.authorization_details).to.deep.equal({
          static_auth: { details: { username: 'mallory' } },
        });
        await execute(id);
        expect(sentTo(elsewhere).join()).not.to.include(SECRET);
        expect((await auth(id)).authorization_details).to.deep.equal({
          static_auth: { details: { username: 'mallory' } },
        });
      }
    });

    it('a partial credential that is insufficient alone is refused', async () => {
      const { id } = await createBasic();
      const partial = { static_auth: { details: { password: 'new' } } };
      const answer = await update(id, { api_config: baseOf(elsewhere), authorization_details: partial });
      expect(answer.body).to.include({ status: 400, code: 'INVALID_AUTHORIZATION_DETAILS' });
      expect(answer.body.errors[0].field).to.match(/static_auth\.details\.username$/);
      expect((await auth(id)).api_config).to.deep.equal(baseOf(upstream));
    });

    it('complete credentials make it ACTIVE for the new host, and only there', async () => {
      const { id } = await createBasic();
      await update(id, { api_config: baseOf(elsewhere) });
      const { body } = await update(id, { authorization_details: details('secret-for-the-new-host') });
      expect(body.connected_account).to.include({ status: 'ACTIVE', status_reason: '' });
      await execute(id);
      expect(sentTo(elsewhere)).to.deep.equal(['ada:secret-for-the-new-host']);
      expect(upstream.requests).to.deep.equal([]);
    });

    it('the return to the old host does not make it ACTIVE by itself, but the old credentials can be completed again', async () => {
      const { id } = await createBasic();
      await update(id, { api_config: baseOf(elsewhere) });
      const back = await update(id, { api_config: baseOf(upstream) });
      expect(back.body.connected_account.status).to.equal('PENDING_AUTH');
      const partial = { static_auth: { details: { username: 'ada' } } };
      expect((await update(id, { authorization_details: partial })).body.connected_account.status).to.equal('ACTIVE');
      await execute(id);
      expect(sentTo(upstream)).to.deep.equal([`ada:${SECRET}`]);
    });

    it('a null in a change that moves the account leaves no credential behind', async () => {
      const domain = { field_name: 'domain', label: 'Domain', input_type: 'text' as const, is_path_param: true };
      const pattern = {
        type: 'OAUTH' as const,
        account_fields: [domain],
        oauth_config: { issuer: 'https://id.acme.test' },
      };
      const connector = await createConnector(server, [pattern], { proxyUrl: 'https://{{domain}}.acme.test' });
      const tokens = { access_token: 'old-access', refresh_token: 'old-refresh', domain: 'acme.test' };
      const { id } = await create(
        { api_config: { domain: 'one' }, authorization_details: { oauth_token: tokens } },
        connector,
      );
      const change = { oauth_token: { access_token: 'new-access', refresh_token: null } };
      const answer = await update(id, { api_config: { domain: 'two' }, authorization_details: change });
      const wanted = { oauth_token: { access_token: 'new-access' } };
      expect(answer.body.connected_account.authorization_details, answer.text).to.deep.equal(wanted);
      const unusable = await update(id, {
        api_config: { domain: 'three' },
        authorization_details: { oauth_token: { scopes: ['x'] } },
      });
      expect(unusable.body.connected_account.status).to.equal('PENDING_AUTH');
      expect(unusable.text).not.to.include('new-access');
    });

    it('an account without credentials can be moved', async () => {
      const body = { connector: 'http', key_id: `http-${unique()}`, type: 'NO_AUTH' };
      await server.call('POST', '/api/v1/connections', { body });
      const { id } = await create({ api_config: baseOf(upstream) }, body.key_id);
      const { body: answer } = await update(id, { api_config: baseOf(elsewhere) });
      expect(answer.connected_account.status).to.equal('ACTIVE');
      await execute(id);
      expect([upstream.requests.length, elsewhere.requests.length]).to.deep.equal([0, 1]);
    });

    it('a provider that moves suspends its accounts, and a partial credential does not send old secrets there', async () => {
      const connector = await createConnector(server, [{ type: 'BASIC' }], { proxyUrl: 'https://one.acme.test' });
      const { id } = await create({ authorization_details: details(SECRET) }, connector);
      await server.call('PUT', `/api/v1/custom-providers/${connector}`, {
        body: { proxy_url: 'https://two.acme.test' },
      });
      expect((await auth(id)).status).to.equal('PENDING_AUTH');
      const partial = { static_auth: { details: { username: 'mallory' } } };
      const refused = await update(id, { authorization_details: partial });
      expect(refused.body).to.include({ status: 400, code: 'INVALID_AUTHORIZATION_DETAILS' });
      const whole = await update(id, { authorization_details: details('another') });
      expect(whole.body.connected_account.status).to.equal('ACTIVE');
    });
  });

  describe('400', () => {
    it('names the missing fields, and changes nothing', async () => {
      const { id } = await create(withKey('first'));
      const before = dumpDatabase(server);
      const nothing = await server.call('PUT', PATH, { body: { id } });
      expect(nothing.body.errors).to.deep.equal([{ field: 'connected_account', message: 'is required' }]);
      const cases: [object, string, string][] = [
        [withKey(7), 'INVALID_AUTHORIZATION_DETAILS', 'static_auth.details.api_key'],
        [withDetails({ token: 'x' }), 'INVALID_AUTHORIZATION_DETAILS', 'static_auth.details.token'],
        [
          { authorization_details: { oauth_token: { access_token: 'x' } } },
          'INVALID_AUTHORIZATION_DETAILS',
          'oauth_token',
        ],
        [
          { authorization_details: { oauth_token: { access_token: null } } },
          'VALIDATION_FAILED',
          'oauth_token.access_token',
        ],
        [{ authorization_details: { workspace_dwd: { subject: '' } } }, 'VALIDATION_FAILED', 'workspace_dwd.subject'],
        [{ authorization_details: null }, 'VALIDATION_FAILED', ''],
      ];
      for (const [change, code, field] of cases) {
        const answer = await update(id, change);
        expect(answer.body, JSON.stringify(change)).to.include({ status: 400, code });
        const wanted = `connected_account.authorization_details${field && `.${field}`}`;
        expect(answer.body.errors.map((e: { field: string }) => e.field)).to.include(wanted);
      }
      expect(dumpDatabase(server)).to.deep.equal(before);
    });

    it('requires the complete key of an account, or none of it', async () => {
      const { body } = await server.call('PUT', PATH, { body: { connector: desk, connected_account: {} } });
      expect(body.code).to.equal('INCOMPLETE_ACCOUNT_KEY');
    });

    it('rejects an account whose provider was deleted', async () => {
      const connector = await createConnector(server, [{ type: 'API_KEY' }]);
      const { id } = await create(withKey('first'), connector);
      await server.call('DELETE', `/api/v1/custom-providers/${connector}`);
      const answer = await update(id, withKey('second'));
      expect(answer.body).to.include({ status: 400, code: 'UNKNOWN_CONNECTOR' });
    });
  });

  describe('404', () => {
    it('rejects an unknown id, and the id of a deleted account', async () => {
      expect((await update(unknownId('ca'), {})).body).to.include({ status: 404, code: 'NOT_FOUND' });
      const { id } = await create({});
      await server.call('POST', `${PATH}:delete`, { body: { id } });
      expect((await update(id, withKey('x'))).status).to.equal(404);
    });

    it('does not create an account for an unknown key', async () => {
      const body = { connector: desk, identifier: 'nobody', user_id: 'nobody', connected_account: withKey('x') };
      const before = dumpDatabase(server);
      expect((await server.call('PUT', PATH, { body })).status).to.equal(404);
      expect((await server.call('PUT', PATH, { body: { ...body, connector: 'unknown' } })).status).to.equal(404);
      const after = dumpDatabase(server);
      for (const table of Object.keys(before)) expect(after[table], table).to.deep.equal(before[table]);
    });
  });
});

let made = 0;

function unique(): number {
  made += 1;
  return made;
}
