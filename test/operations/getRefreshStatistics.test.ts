import { expect } from 'chai';
import { closeAll } from '../core/net/local.ts';
import { ISSUER, SECRET, type StrictServer, startStrictServer, TOKEN_URI } from '../core/oauth/strict-server.ts';
import { createAccount } from '../support/accounts.ts';
import { testClock } from '../support/clock.ts';
import { execute } from '../support/execute.ts';
import { createConnection, createProvider } from '../support/providers.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { json, startUpstream, type Upstream } from '../support/upstream.ts';

const ACCOUNTS = '/api/v1/connected_accounts';
const PATH = `${ACCOUNTS}:refresh_statistics`;
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** A quarter past an hour. */
const START = Date.UTC(2026, 10, 20, 9, 15);
const API = 'https://api.acme.example';
const MACHINE = { client_id: 'machine', client_secret: SECRET };

describe('getRefreshStatistics', () => {
  const clock = testClock(START);
  let as: StrictServer;
  let app: Upstream;
  let server: TestServer;
  let connector: string;
  let machines: string;

  before(async () => {
    const client = { ...MACHINE, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
    as = await startStrictServer({ clients: [client] });
    app = await startUpstream(async ({ headers }, res) => {
      const alive = await as.isAlive(String(headers['authorization']).replace('Bearer ', ''));
      json(res, alive ? 200 : 401, { alive });
    });
    const overrides = `${ISSUER}=${as.origin},${app.endpointOverride(API)}`;
    server = await startTestServer({ env: { VALETKEY_ENDPOINT_OVERRIDES: overrides }, overrides: { now: clock.now } });
    connector = await connect('OAUTH', { issuer: ISSUER }, { client_id: 'basic', client_secret: SECRET });
    const fields = ['client_id', 'client_secret'].map((field_name) => ({
      ...{ field_name, label: field_name, input_type: 'text', required: true },
    }));
    machines = await connect('OAUTH_M2M', { token_uri: TOKEN_URI }, {}, fields);

    const [good, wrong] = [await account(await as.issue()), await account('guessed')];
    await refresh(good, 'REFRESHED');
    await refresh(wrong, 'EXPIRED');
    clock.advance(HOUR_MS);
    // Causes a refresh of an expired token, then a refresh because the application rejects a token that is not expired.
    const auth = await server.call('GET', `${ACCOUNTS}/auth?id=${good}`);
    expect(auth.status, auth.text).to.equal(200);
    const rejected = await account(await as.issue());
    const called = await execute(server, rejected, 'http_get', { path: '/me' });
    expect(called.body.data, called.text).to.deep.equal({ alive: true });
    const machine = await createAccount(server, {
      connector: machines,
      identifier: 'machine',
      connectedAccount: { authorization_details: { static_auth: { details: MACHINE } } },
    });
    const first = await execute(server, machine.id, 'http_get', { path: '/me' });
    expect(first.body.data, first.text).to.deep.equal({ alive: true });
  });
  after(async () => {
    await server.stop();
    await app.stop();
    await closeAll();
  });

  const get = (query: string) => server.call('GET', `${PATH}?${query}`);

  async function connect(type: string, oauth_config: object, client: object, fields: object[] = []): Promise<string> {
    const pattern = { type, oauth_config, ...(fields.length > 0 && { fields }) };
    const provider = await createProvider(server, { proxy_enabled: true, proxy_url: API, auth_patterns: [pattern] });
    const { key_id: keyId } = await createConnection(server, { connector: provider.identifier, ...client });
    return keyId as string;
  }

  let accounts = 0;
  async function account(refresh_token: string): Promise<string> {
    const connectedAccount = {
      authorization_details: { oauth_token: { access_token: 'of-yesterday', refresh_token } },
    };
    return (await createAccount(server, { connector, identifier: `user ${++accounts}`, connectedAccount })).id;
  }

  async function refresh(id: string, outcome: string): Promise<void> {
    const { body, text } = await server.call('POST', `${ACCOUNTS}:refresh`, { body: { id } });
    expect(body.outcome, text).to.equal(outcome);
  }

  describe('200', () => {
    it('counts refreshes by the hour in which their outcome was stored, for each cause of a refresh', async () => {
      const { body, text } = await get('group_by=hour');
      expect(body.groups, text).to.deep.equal([
        { key: '2026-11-20T09:00:00.000Z', refreshes: 2, succeeded: 1, expired: 1, failed: 0 },
        { key: '2026-11-20T10:00:00.000Z', refreshes: 3, succeeded: 3, expired: 0, failed: 0 },
      ]);
      expect(body.total).to.deep.equal({ key: '', refreshes: 5, succeeded: 4, expired: 1, failed: 0 });
      expect(body).to.include({ from: '2026-11-19T10:00:00.000Z', before: '2026-11-20T11:00:00.000Z' });
    });

    it('lists the connectors with the most refreshes first, and selects one', async () => {
      const { groups } = (await get('group_by=connector')).body;
      expect(groups.map((group: Record<string, unknown>) => [group['key'], group['refreshes']])).to.deep.equal([
        [connector, 4],
        [machines, 1],
      ]);
      expect((await get(`group_by=hour&connector=${machines}`)).body.total).to.include({ refreshes: 1, succeeded: 1 });
      expect((await get('group_by=hour&connector=slack')).body.groups).to.deep.equal([]);
    });

    it('names the outcome, and the kind of each failure', async () => {
      const { store } = server.parts;
      const { id } = await server.parts.environmentOf('localhost');
      const hour = START / HOUR_MS - 30;
      const failure = { hour: Math.floor(hour), connector: 'slack', outcome: 'FAILED' } as const;
      await store.write(async (tx) => {
        for (const errorKind of ['upstream_timeout', 'upstream_auth', 'upstream_timeout'])
          await tx.refreshStatistics.count(id, { ...failure, errorKind });
      });
      const { body } = await get(`group_by=outcome&from=${new Date(START - 2 * DAY_MS).toISOString()}`);
      const counts = body.groups.map((group: Record<string, unknown>) => [group['key'], group['refreshes']]);
      expect(counts).to.deep.equal([
        ['succeeded', 4],
        ['upstream_timeout', 2],
        ['expired', 1],
        ['upstream_auth', 1],
      ]);
      expect(body.total).to.include({ refreshes: 8, failed: 3 });
    });

    it('returns nothing of another environment (C1)', async () => {
      const other = await addSecondEnvironment(server);
      expect((await other.call('GET', `${PATH}?group_by=hour`)).body.total.refreshes).to.equal(0);
    });

    it('deletes the counts of one hour after the other once they expire', async () => {
      const { store } = server.parts;
      const { id } = await server.parts.environmentOf('localhost');
      const hour = Math.floor(START / HOUR_MS);
      while ((await store.write((tx) => tx.refreshStatistics.sweep(id, hour))) > 0);
      expect((await get('group_by=hour')).body.total.refreshes).to.equal(5);
      expect(await store.write((tx) => tx.refreshStatistics.sweep(id, hour + 1))).to.be.greaterThan(0);
      expect((await get('group_by=hour')).body.total.refreshes).to.equal(3);
    });
  });

  describe('400', () => {
    for (const [query, field] of [
      ['', 'group_by'],
      ['group_by=tool_name', 'group_by'],
      ['group_by=hour&before=tomorrow', 'before'],
      ['group_by=hour&from=2026-11-20T10:00:00Z&before=2026-11-20T10:00:00Z', 'from'],
      [`group_by=hour&from=${new Date(START - 40 * DAY_MS).toISOString()}`, 'from'],
    ] as const) {
      it(`names the parameter of ?${query}`, async () => {
        const answer = await get(query);
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(answer.body.errors[0].field).to.equal(field);
      });
    }
  });
});
