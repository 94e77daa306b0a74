import { expect } from 'chai';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import type { Store } from '../../../db/store.ts';
import { openTestStore } from '../../db/support.ts';
import { createWorld, gate, HOUR, RotatingProvider, type World } from './refresh-support.ts';

const answering =
  (status: number, body: object): ProtocolFetch =>
  async () =>
    Response.json(body, { status });

describe('statistics of refreshes', () => {
  let world: World;

  beforeEach(async () => {
    world = await createWorld();
  });
  afterEach(() => world.end());

  /** Returns how many refreshes had each outcome. */
  async function counts(store: Store): Promise<Record<string, number>> {
    const rows = await store.read.refreshStatistics.grouped(world.env, 'outcome', { fromHour: 0, beforeHour: 1e9 });
    return Object.fromEntries(rows.map(({ group, outcome, total }) => [group || outcome, total]));
  }

  const cases: [title: string, fetch: ProtocolFetch, expected: Record<string, number>][] = [
    ['succeeds', (url, init) => new RotatingProvider().fetch(url, init), { SUCCEEDED: 1 }],
    ['is rejected permanently', answering(400, { error: 'invalid_grant' }), { EXPIRED: 1 }],
    ['fails for now', answering(503, {}), { upstream_server_error: 1 }],
    ['is rejected because of its client', answering(401, { error: 'invalid_client' }), { upstream_auth: 1 }],
  ];
  for (const [title, fetch, expected] of cases) {
    it(`cost no commit beyond those of the lease and the outcome if a refresh ${title}`, async () => {
      const { store } = await world.start(fetch);
      let units = 0;
      const counting: Store = {
        ...store,
        write(unit, terms) {
          units++;
          return store.write(unit, terms);
        },
      };
      const { refresher } = await world.start(fetch, { store: counting });
      expect(await counts(store)).to.deep.equal({});
      world.clock.at += 2 * HOUR;
      await refresher.ensureFresh(await world.account(), world.cause);
      expect(await counts(store)).to.deep.equal(expected);
      expect(units).to.equal(2);
    });
  }

  it('count refreshes before the end of a token, after it, and after a rejected token, which keep-alive requests too', async () => {
    const provider = new RotatingProvider();
    const { refresher, store } = await world.start(provider.fetch);
    world.clock.at += HOUR - 1000;
    await refresher.ensureFresh(await world.account(), world.cause);
    world.clock.at += 2 * HOUR;
    await refresher.ensureFresh(await world.account(), world.cause);
    world.clock.at += HOUR / 2;
    await refresher.refreshNow(await world.account(), world.cause);
    expect(await counts(store)).to.deep.equal({ SUCCEEDED: 3 });
    expect(provider.requests).to.equal(3);
  });

  it('count a refresh once if several callers share it, and none if no request is sent', async () => {
    const { refresher, store } = await world.start(answering(503, {}));
    world.clock.at += 2 * HOUR;
    const account = await world.account();
    await Promise.all([1, 2, 3].map(() => refresher.ensureFresh(account, world.cause)));
    await refresher.ensureFresh(account, world.cause);
    expect(await counts(store)).to.deep.equal({ upstream_server_error: 1 });
  });

  it('leave out a response that came after the account had got other credentials, or was deleted', async () => {
    for (const change of ['replaced', 'deleted']) {
      const [arrived, answered] = [gate(), gate()];
      const { refresher, store } = await world.start(async () => {
        arrived.open();
        await answered.opened;
        return Response.json({ access_token: 'late', token_type: 'Bearer' });
      });
      world.clock.at += 2 * HOUR;
      const account = await world.account();
      const refreshed = refresher.refreshNow(account, world.cause);
      await arrived.opened;
      if (change === 'replaced') await world.replaceTokens({ access_token: 'new', refresh_token: 'new' });
      else await store.write((tx) => tx.accounts.remove(world.env, account.id, world.clock.at));
      answered.open();
      await refreshed.catch(() => {});
      expect(await counts(store), change).to.deep.equal({});
    }
  });

  it('are undone with an outcome that cannot be stored', async () => {
    const test = await openTestStore();
    const refresh = { hour: 1, connector: 'acme', outcome: 'SUCCEEDED', errorKind: '' } as const;
    const read = () => test.store.read.refreshStatistics.grouped(test.env, 'hour', { fromHour: 0, beforeHour: 9 });
    const failed = test.store.write(async (tx) => {
      await tx.refreshStatistics.count(test.env, refresh);
      throw new Error('the rest failed');
    });
    expect(await failed.catch((error) => error.message)).to.equal('the rest failed');
    expect(await read()).to.deep.equal([]);
    for (let n = 0; n < 3; n++) await test.store.write((tx) => tx.refreshStatistics.count(test.env, refresh));
    expect(await read()).to.deep.equal([{ group: '1', outcome: 'SUCCEEDED', total: 3 }]);
    await test.end();
  });
});
