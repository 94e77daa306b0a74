import { expect } from 'chai';
import { createAccount } from '../support/accounts.ts';
import { createConnector } from '../support/all-types.ts';
import type { TestClock } from '../support/clock.ts';
import { testClock } from '../support/clock.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestResponse, TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';

const LIST = '/api/v1/connected_accounts';
const SEARCH = '/api/v1/connected_accounts:search';
const DAY = 24 * 60 * 60 * 1000;

interface Tokens {
  next: string;
  prev: string;
}

describe('page tokens of accounts (C7)', () => {
  let server: TestServer;
  let clock: TestClock;
  let connector: string;

  before(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { now: clock.now } });
    connector = await createConnector(server, [{ type: 'API_KEY' }]);
    for (let index = 0; index < 6; index++) {
      await createAccount(server, { connector, identifier: `token-${index}`, userId: 'u', connectedAccount: {} });
    }
  });
  after(() => server.stop());

  const read = (path: string, query: Record<string, string>): Promise<TestResponse> =>
    server.call('GET', `${path}?${new URLSearchParams({ page_size: '2', ...query })}`);

  /** Returns both tokens of the middle page. */
  async function tokensOf(path: string, query: Record<string, string>): Promise<Tokens> {
    const first = await read(path, query);
    const middle = await read(path, { ...query, page_token: first.body.next_page_token });
    expect(middle.body.connected_accounts).to.have.lengthOf(2);
    return { next: middle.body.next_page_token, prev: middle.body.prev_page_token };
  }

  function expectRefused(answer: TestResponse, what?: string): void {
    expect(answer.body, what).to.include({ status: 400, code: 'INVALID_PAGE_TOKEN' });
    expect(answer.body.errors[0].field).to.equal('page_token');
  }

  for (const [name, path, query] of [
    ['the list', LIST, { user_id: 'u' }],
    ['the search', SEARCH, { query: 'token-' }],
  ] as const) {
    describe(`of ${name}`, () => {
      it('lead forwards and backwards while their filters stay the same', async () => {
        const { next, prev } = await tokensOf(path, query);
        const names = async (page_token: string) =>
          (await read(path, { ...query, page_token })).body.connected_accounts.map(
            (a: { identifier: string }) => a.identifier,
          );
        expect(await names(next)).to.deep.equal(['token-1', 'token-0']);
        expect(await names(prev)).to.deep.equal(['token-5', 'token-4']);
      });

      it('are different every time, opaque and safe in a URL', async () => {
        const [first, second] = [await tokensOf(path, query), await tokensOf(path, query)];
        expect(first.next).not.to.equal(second.next);
        for (const token of [first.next, first.prev]) {
          expect(token).to.match(/^[\w-]+$/);
          expect(Buffer.from(token, 'base64url').toString('latin1')).not.to.match(/ca_|after|before|token-/);
        }
      });

      it('are refused with any bit flipped', async () => {
        const { next } = await tokensOf(path, query);
        const bytes = Buffer.from(next, 'base64url');
        expect(bytes.length * 8).to.be.greaterThan(500);
        for (let bit = 0; bit < bytes.length * 8; bit++) {
          const flipped = Buffer.from(bytes);
          flipped.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
          expectRefused(await read(path, { ...query, page_token: flipped.toString('base64url') }), `bit ${bit}`);
        }
      });

      it('are refused in any other spelling, truncated, extended, or invented', async () => {
        const { next, prev } = await tokensOf(path, query);
        const spellings = [
          `${next}=`,
          `${next} `,
          ` ${next}`,
          `${next}A`,
          next.slice(0, -1),
          next.slice(1),
          next + prev,
        ];
        const madeUp = [
          'a',
          '-',
          'null',
          `after ${connector}`,
          Buffer.from('after ca_1').toString('base64url'),
          'A'.repeat(2048),
        ];
        for (const page_token of [...spellings, ...madeUp])
          expectRefused(await read(path, { ...query, page_token }), page_token);
      });

      it('are refused after a day, and accepted before', async () => {
        const { next } = await tokensOf(path, query);
        clock.advance(DAY - 1);
        expect((await read(path, { ...query, page_token: next })).status).to.equal(200);
        clock.advance(1);
        expectRefused(await read(path, { ...query, page_token: next }));
      });

      it('are never longer than 2048 characters', async () => {
        const answer = await read(path, { ...query, page_token: 'A'.repeat(2049) });
        expect(answer.body).to.include({ status: 400, code: 'VALIDATION_FAILED' });
      });
    });
  }

  it('are refused in another environment, with the same filters and for accounts of the same names', async () => {
    const other = await addSecondEnvironment(server);
    for (const [path, query] of [
      [LIST, { user_id: 'u' }],
      [SEARCH, { query: 'token-' }],
    ] as [string, Record<string, string>][]) {
      const { next } = await tokensOf(path, query);
      const there = new URLSearchParams({ page_size: '2', ...query, page_token: next });
      expectRefused(await other.call('GET', `${path}?${there}`), path);
    }
  });

  it('of one list are refused by every other', async () => {
    const listed = await tokensOf(LIST, { user_id: 'u' });
    const found = await tokensOf(SEARCH, { query: 'token-' });
    expectRefused(await read(SEARCH, { query: 'token-', page_token: listed.next }));
    expectRefused(await read(LIST, { page_token: found.next }));
    for (const path of [
      '/api/v1/connections',
      '/api/v1/executions',
      '/api/v1/providers',
      '/api/v1/tools',
      '/api/v1/api_clients',
    ]) {
      expectRefused(await read(path, { page_token: listed.next }), path);
    }
  });

  it('are refused with any filter changed, added or left out', async () => {
    const { next, prev } = await tokensOf(LIST, { user_id: 'u' });
    const changes: Record<string, string>[] = [
      {},
      { user_id: 'v' },
      { user_id: 'U' },
      { user_id: 'u', connector },
      { user_id: 'u', status: 'PENDING_AUTH' },
      { user_id: 'u', organization_id: 'o' },
      { user_id: 'u', identifier: 'token-1' },
      { organization_id: 'u' },
    ];
    for (const filters of changes) {
      for (const page_token of [next, prev])
        expectRefused(await read(LIST, { ...filters, page_token }), JSON.stringify(filters));
    }
  });

  it('are refused with another query or connection', async () => {
    const { next } = await tokensOf(SEARCH, { query: 'token-' });
    expectRefused(await read(SEARCH, { query: 'token', page_token: next }));
    expectRefused(await read(SEARCH, { query: 'TOKEN-', page_token: next }));
    expectRefused(await read(SEARCH, { query: 'token-', connection_id: 'conn_1', page_token: next }));
    const spaced = await read(SEARCH, { query: '  token- ', page_token: next });
    expect(spaced.status, 'white space does not count').to.equal(200);
  });

  it('remain valid when the account at their position is deleted', async () => {
    const churn = await createConnector(server, [{ type: 'API_KEY' }]);
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      ids.push((await createAccount(server, { connector: churn, identifier: `c-${index}`, connectedAccount: {} })).id);
    }
    const first = await read(LIST, { connector: churn });
    await server.call('POST', `${LIST}:delete`, { body: { id: ids[3] } });
    const second = await read(LIST, { connector: churn, page_token: first.body.next_page_token });
    expect(second.body.connected_accounts.map((a: { identifier: string }) => a.identifier)).to.deep.equal([
      'c-2',
      'c-1',
    ]);
    expect(second.body.total_size).to.equal(4);
  });
});
