import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { createConnector } from '../support/all-types.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { walkPages } from '../support/pages.ts';
import { createConnection } from '../support/providers.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { accountRow, putInState } from '../support/states.ts';

const PATH = '/api/v1/connected_accounts';

interface Summary {
  id: string;
  identifier: string;
}

describe('listConnectedAccounts', () => {
  let server: TestServer;
  let clock: TestClock;
  let desk: string;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { now: clock.now } });
    desk = await createConnector(server, [{ type: 'API_KEY' }]);
  });
  after(() => server.stop());

  const list = (filters: Record<string, string> = {}): Promise<TestResponse> =>
    server.call('GET', `${PATH}?${new URLSearchParams(filters)}`);
  const namesOf = ({ body }: TestResponse): string[] =>
    body.connected_accounts.map(({ identifier }: Summary) => identifier);
  const withKey = { authorization_details: { static_auth: { details: { api_key: 'secret-key' } } } };

  describe('200', () => {
    it('returns an empty list if the environment has no accounts', async () => {
      const { status, body } = await list();
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ connected_accounts: [], next_page_token: '', prev_page_token: '', total_size: 0 });
    });

    it('returns summaries: every field of an account except its settings and credentials', async () => {
      const connectedAccount = { api_config: { region: 'eu' }, ...withKey };
      const account = await createAccount(server, { connector: desk, connectedAccount });
      const { body, text } = await list();
      const { api_config: _config, authorization_details: _details, ...summary } = account;
      expect(body.connected_accounts).to.deep.equal([summary]);
      expect(text).not.to.match(/secret-key|region/);
    });

    it('returns the current status, reason and last use', async () => {
      const { id } = await createAccount(server, { connector: desk, connectedAccount: withKey });
      await putInState(server, id, 'EXPIRED', 'The refresh token was refused.');
      server.parts.usage.touch(await accountRow(server, id));
      const [first] = (await list()).body.connected_accounts;
      expect(first).to.include({ id, status: 'EXPIRED', status_reason: 'The refresh token was refused.' });
      expect(first.last_used_at).to.equal(new Date(clock.now()).toISOString());
    });
  });

  describe('200 with filters', () => {
    let desks: { eu: { id: string }; us: { id: string } };
    let provider: string;

    /** Creates six accounts that differ in every field that lists can be filtered by. */
    before(async () => {
      provider = await createConnector(server, [{ type: 'API_KEY' }]);
      const connection = async (key_id: string) => createConnection(server, { connector: provider, key_id });
      desks = { eu: await connection('desk-eu'), us: await connection('desk-us') };
      const accounts: [string, string, string, string][] = [
        ['a', 'desk-eu', 'org-1', 'user-1'],
        ['b', 'desk-eu', 'org-1', 'user-2'],
        ['c', 'desk-us', 'org-2', 'user-1'],
        ['d', 'desk-us', '', 'user-1'],
        ['e', 'desk-us', 'org-1', ''],
        ['a', 'desk-us', 'org-1', 'user-1'],
      ];
      for (const [identifier, connector, organization, user] of accounts) {
        const owner = { ...(organization && { organization_id: organization }), ...(user && { user_id: user }) };
        const body = { connector, identifier, ...owner, connected_account: identifier === 'b' ? withKey : {} };
        expect((await server.call('POST', PATH, { body })).status).to.equal(201);
      }
    });

    const CASES: [Record<string, string>, string[]][] = [
      [{ organization_id: 'org-1' }, ['a', 'e', 'b', 'a']],
      [{ organization_id: 'org-2' }, ['c']],
      [{ user_id: 'user-1' }, ['a', 'd', 'c', 'a']],
      [{ organization_id: 'org-1', user_id: 'user-1' }, ['a', 'a']],
      [{ connector: 'desk-eu' }, ['b', 'a']],
      [{ connector: 'desk-us' }, ['a', 'e', 'd', 'c']],
      [{ connector: 'desk-eu', organization_id: 'org-1', user_id: 'user-2', status: 'ACTIVE' }, ['b']],
      [{ identifier: 'a' }, ['a', 'a']],
      [{ identifier: 'a', connector: 'desk-us' }, ['a']],
      [{ status: 'PENDING_AUTH', connector: 'desk-us' }, ['a', 'e', 'd', 'c']],
      [{ status: 'ACTIVE', connector: 'desk-us' }, []],
      [{ identifier: 'A' }, []],
      [{ identifier: '%' }, []],
      [{ organization_id: 'org-3' }, []],
      [{ user_id: "' or 1=1 --" }, []],
      [{ connector: 'no-such-connector' }, []],
      [{ provider: 'no-such-provider' }, []],
      [{ connection_id: 'conn_00000000000000000000000000' }, []],
      [{ connection_id: 'anything' }, []],
    ];
    for (const [filters, names] of CASES) {
      it(`finds ${names.length} by ${new URLSearchParams(filters)}`, async () => {
        const answer = await list(filters);
        expect(answer.status, answer.text).to.equal(200);
        expect(namesOf(answer)).to.deep.equal(names);
        expect(answer.body.total_size).to.equal(names.length);
      });
    }

    it('finds by connection and by provider', async () => {
      expect(namesOf(await list({ connection_id: desks.eu.id }))).to.deep.equal(['b', 'a']);
      expect(namesOf(await list({ connection_id: desks.us.id, connector: 'desk-eu' }))).to.deep.equal([]);
      expect(namesOf(await list({ provider }))).to.deep.equal(['a', 'e', 'd', 'c', 'b', 'a']);
      expect(namesOf(await list({ provider, connector: 'desk-eu' }))).to.deep.equal(['b', 'a']);
    });

    for (const status of ['ACTIVE', 'EXPIRED', 'PENDING_AUTH', 'PENDING_VERIFICATION', 'DISCONNECTED'] as const) {
      it(`finds by the status ${status}, exactly`, async () => {
        const { id } = await createAccount(server, { connector: desk, connectedAccount: withKey });
        const before = (await list({ status, page_size: '100' })).body;
        await putInState(server, id, status);
        const after = (await list({ status, page_size: '100' })).body;
        expect(after.connected_accounts[0].id).to.equal(id);
        expect(after.total_size).to.equal(after.connected_accounts.length);
        expect(after.total_size).to.equal(before.total_size + (status === 'ACTIVE' ? 0 : 1));
      });
    }

    it('accepts the name of a provider for its only connection, and lists the connections if it has several', async () => {
      const single = await createConnector(server, [{ type: 'API_KEY' }]);
      await createConnection(server, { connector: single, key_id: 'called-otherwise' });
      const { id } = await createAccount(server, { connector: 'called-otherwise', connectedAccount: {} });
      expect((await list({ connector: single })).body.connected_accounts.map((a: Summary) => a.id)).to.deep.equal([id]);
      const several = await list({ connector: provider });
      expect(several.body).to.include({ status: 400, code: 'AMBIGUOUS_CONNECTOR' });
      expect(several.body.errors[0].message)
        .to.match(/desk-eu/)
        .and.match(/desk-us/);
    });
  });

  describe('200 by pages', () => {
    let connector: string;
    const names = Array.from({ length: 23 }, (_, index) => `page-${String(index).padStart(2, '0')}`);
    const newestFirst = [...names].reverse();

    before(async () => {
      connector = await createConnector(server, [{ type: 'API_KEY' }]);
      // All in the same millisecond, so only their ids order them.
      for (const identifier of names) await createAccount(server, { connector, identifier, connectedAccount: {} });
    });

    it('returns the newest first, by default twenty at a time', async () => {
      const { body } = await list({ connector });
      expect(namesOf({ body } as TestResponse)).to.deep.equal(newestFirst.slice(0, 20));
      expect(body.total_size).to.equal(23);
      expect(body.prev_page_token).to.equal('');
      expect(body.next_page_token).not.to.equal('');
    });

    for (const size of [1, 7, 22, 23, 24, 100]) {
      it(`reaches the end and the beginning in pages of ${size}`, async () => {
        const pages = await walkPages(server, `${PATH}?connector=${connector}&page_size=${size}`, 'connected_accounts');
        expect(pages).to.have.lengthOf(Math.ceil(23 / size));
        expect(pages.flat().map(({ identifier }) => identifier)).to.deep.equal(newestFirst);
      });
    }

    it('accepts another page size for a following page', async () => {
      const first = await list({ connector, page_size: '3' });
      const second = await list({ connector, page_size: '5', page_token: first.body.next_page_token });
      expect(namesOf(second)).to.deep.equal(newestFirst.slice(3, 8));
      const back = await list({ connector, page_size: '2', page_token: second.body.prev_page_token });
      expect(namesOf(back)).to.deep.equal(newestFirst.slice(1, 3));
      expect(back.body.prev_page_token).not.to.equal('');
    });

    it('returns each unchanged account exactly once, while others are created and deleted (C8)', async () => {
      const churn = await createConnector(server, [{ type: 'API_KEY' }]);
      const create = async (identifier: string) =>
        (await createAccount(server, { connector: churn, identifier, connectedAccount: {} })).id;
      const remove = (id: string) => server.call('POST', `${PATH}:delete`, { body: { id } });
      const [staying, leaving] = [[] as string[], [] as string[]];
      for (let index = 0; index < 24; index++) {
        (index % 3 === 0 ? leaving : staying).push(await create(`churn-${index}`));
      }
      const seen: string[] = [];
      let token = '';
      let alive = 24;
      do {
        const { body } = await list({ connector: churn, page_size: '4', ...(token && { page_token: token }) });
        expect(body.total_size).to.equal(alive);
        seen.push(...body.connected_accounts.map(({ id }: Summary) => id));
        token = body.next_page_token;
        // Deletes the last item of a page and an older item, and adds a new one.
        for (const gone of [body.connected_accounts.at(-1).id, leaving.shift()]) {
          if (gone && !staying.includes(gone)) alive -= (await remove(gone)).status === 200 ? 1 : 0;
        }
        await create(`churn-new-${alive}-${seen.length}`);
        alive += 1;
      } while (token);
      expect(seen.filter((id) => staying.includes(id))).to.deep.equal([...staying].reverse());
      expect(new Set(seen).size).to.equal(seen.length);
    });

    it('counts exactly after creations and deletions', async () => {
      const counted = await createConnector(server, [{ type: 'API_KEY' }]);
      const totals = async () => [
        (await list({ connector: counted })).body.total_size,
        (await list({ connector: counted, user_id: 'counted' })).body.total_size,
      ];
      const ids: string[] = [];
      for (let index = 0; index < 5; index++) {
        const { id } = await createAccount(server, { connector: counted, userId: 'counted', connectedAccount: {} });
        ids.push(id);
        expect(await totals()).to.deep.equal([index + 1, index + 1]);
      }
      for (const [index, id] of ids.entries()) {
        await server.call('POST', `${PATH}:delete`, { body: { id } });
        expect(await totals()).to.deep.equal([4 - index, 4 - index]);
      }
    });
  });

  describe('400', () => {
    const CASES: [Record<string, string>, string][] = [
      [{ page_size: '0' }, 'page_size'],
      [{ page_size: '101' }, 'page_size'],
      [{ page_size: '-1' }, 'page_size'],
      [{ page_size: '1.5' }, 'page_size'],
      [{ page_size: 'ten' }, 'page_size'],
      [{ page_size: '' }, 'page_size'],
      [{ page_size: '1e1000' }, 'page_size'],
      [{ page_token: '' }, 'page_token'],
      [{ status: 'active' }, 'status'],
      [{ status: 'ACTIVE,EXPIRED' }, 'status'],
      [{ organization_id: '' }, 'organization_id'],
      [{ user_id: 'u'.repeat(101) }, 'user_id'],
      [{ identifier: 'i'.repeat(513) }, 'identifier'],
      [{ identifier: 'a\u0000b' }, 'identifier'],
      [{ connector: 'a/b' }, 'connector'],
      [{ provider: '' }, 'provider'],
      [{ query: 'ada' }, 'query'],
    ];
    for (const [filters, field] of CASES) {
      it(`names ${field} for ${new URLSearchParams(filters).toString().slice(0, 60)}`, async () => {
        const { body } = await list(filters);
        expect(body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
        expect(body.errors[0].field).to.equal(field);
      });
    }
  });
});
