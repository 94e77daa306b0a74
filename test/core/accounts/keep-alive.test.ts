import { expect } from 'chai';
import { createKeepAlive, type KeepAliveDeps } from '../../../core/accounts/keep-alive.ts';
import type { OAuthConfig } from '../../../core/connectors/auth-pattern.ts';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import { AS, CLIENT_ID, CLIENT_SECRET, type ScriptableAs, startScriptableAs } from '../../support/scriptable-as.ts';
import { closeAll } from '../net/local.ts';
import type { Process, World } from './refresh-support.ts';
import { acme, createWorld, gate, HOUR, RotatingProvider } from './refresh-support.ts';

const DAY = 24 * HOUR;
const IDLE_DAYS = 60;
const LOWEST = 0;
const HIGHEST = 2 ** 32 - 1;

/** Returns a random source that always gives the same value. */
const drawing = (value: number) => () => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

describe('keeping idle accounts alive', () => {
  let world: World;
  let provider: RotatingProvider;
  let process: Process;

  beforeEach(async () => {
    world = await createWorld();
    provider = new RotatingProvider();
    process = await world.start((...args) => provider.fetch(...args));
  });
  afterEach(() => world.end());

  function keeper(more: Partial<KeepAliveDeps> = {}, oauth: OAuthConfig = { refresh: { idle_days: IDLE_DAYS } }) {
    const connector = acme({ oauth });
    return createKeepAlive({
      ...process,
      catalogue: createCatalogue({ connectors: { acme: connector }, tools: new Map() }),
      now: world.clock.now,
      random: drawing(2 ** 31),
      ...more,
    });
  }

  /** Advances the clock to this many days after the account's token expired. */
  const lieIdle = (days: number) => {
    world.clock.at += HOUR + days * DAY;
  };

  it('refreshes a grant some time before it ends, but not earlier', async () => {
    lieIdle(0.79 * IDLE_DAYS);
    expect(await keeper().run()).to.deep.equal({ tried: 0, renewed: 0 });
    expect(provider.requests).to.equal(0);
    world.clock.at += 0.02 * IDLE_DAYS * DAY;
    expect(await keeper().run()).to.deep.equal({ tried: 1, renewed: 1 });
    expect((await world.account()).tokenExpiresAt).to.equal(world.clock.at + HOUR);
    expect((await world.tokens())['refresh_token']).to.equal('rt-1');
  });

  it('waits for the same time again after a refresh', async () => {
    lieIdle(0.9 * IDLE_DAYS);
    await keeper().run();
    expect(await keeper().run()).to.deep.equal({ tried: 0, renewed: 0 });
    lieIdle(0.9 * IDLE_DAYS);
    expect(await keeper().run()).to.deep.equal({ tried: 1, renewed: 1 });
    expect(provider.alive).to.equal(true);
  });

  it('is not postponed by changes of an account that do not refresh its grant', async () => {
    lieIdle(0.9 * IDLE_DAYS);
    const { id, version } = await world.account();
    const changes = { apiConfig: { a: 1 }, updatedAt: world.clock.at };
    await process.store.write((tx) => tx.accounts.update(world.env, id, version, changes));
    expect(await keeper().run()).to.deep.equal({ tried: 1, renewed: 1 });
  });

  it('spreads accounts that were connected at the same time between 75 and 85 percent of the lifetime (R8)', async () => {
    lieIdle(0.76 * IDLE_DAYS);
    expect(await keeper({ random: drawing(HIGHEST) }).run()).to.include({ tried: 0 });
    expect(await keeper({ random: drawing(LOWEST) }).run()).to.include({ tried: 1 });
    lieIdle(0.86 * IDLE_DAYS);
    expect(await keeper({ random: drawing(HIGHEST) }).run()).to.include({ tried: 1 });
  });

  it('sends nothing to providers whose grants do not end when idle, or cannot be refreshed', async () => {
    lieIdle(10 * IDLE_DAYS);
    for (const refresh of [undefined, { kind: 'rotating' }, { kind: 'none', idle_days: 1 }] as const) {
      expect(await keeper({}, { refresh }).run()).to.deep.equal({ tried: 0, renewed: 0 });
    }
  });

  it('skips accounts that are not active', async () => {
    lieIdle(0.9 * IDLE_DAYS);
    const { id } = await world.account();
    const to = { status: 'DISCONNECTED', reason: null, updatedAt: world.clock.at } as const;
    await process.store.write((tx) => tx.accounts.setStatus(world.env, id, ['ACTIVE'], to));
    expect(await keeper().run()).to.deep.equal({ tried: 0, renewed: 0 });
  });

  it('reports that a grant has ended when the refresh comes too late', async () => {
    provider.alive = false;
    lieIdle(2 * IDLE_DAYS);
    expect(await keeper().run()).to.deep.equal({ tried: 1, renewed: 0 });
    expect(await world.account()).to.include({ status: 'EXPIRED' });
  });

  describe('with many accounts', () => {
    const MANY = 23;
    let asked: number;
    let most: number;
    let open: number;

    beforeEach(async () => {
      for (let n = 1; n < MANY; n++) await world.addAccount(`person ${n}`);
      [asked, most, open] = [0, 0, 0];
      const fetch: ProtocolFetch = async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        const body = { access_token: `at-${++asked}`, token_type: 'Bearer', expires_in: 3600 };
        return Response.json(body);
      };
      process = await world.start(fetch);
      lieIdle(0.9 * IDLE_DAYS);
    });

    it('reads them in batches, and refreshes each once with limited concurrency', async () => {
      const limits = { concurrency: 3, batch: 5 };
      expect(await keeper({ limits }).run()).to.deep.equal({ tried: MANY, renewed: MANY });
      expect(asked).to.equal(MANY);
      expect(most).to.be.within(1, 3);
    });

    it('continues after accounts that cannot be refreshed', async () => {
      const refreshed: string[] = [];
      const errors: unknown[] = [];
      const refresher: KeepAliveDeps['refresher'] = {
        refreshNow: async (account) => {
          refreshed.push(account.id);
          if (refreshed.length % 2 === 0) throw new Error('a row that does not open');
          return null;
        },
      };
      const log = { error: (fields: object) => void errors.push(fields) };
      const kept = await keeper({ refresher, log, limits: { concurrency: 2, batch: 5 } }).run();
      expect(kept).to.deep.equal({ tried: MANY, renewed: 0 });
      expect(new Set(refreshed).size).to.equal(MANY);
      expect(errors).to.have.length(Math.floor(MANY / 2));
    });

    it('starts nothing after it was stopped, and waits for running refreshes', async () => {
      const { opened, open: letGo } = gate();
      let begun = 0;
      let ended = 0;
      const refresher: KeepAliveDeps['refresher'] = {
        refreshNow: async () => {
          begun++;
          await opened;
          ended++;
          return null;
        },
      };
      const stopping = new AbortController();
      const run = keeper({ refresher, limits: { concurrency: 2, batch: 5 } }).run(stopping.signal);
      while (begun < 2) await new Promise((resolve) => setImmediate(resolve));
      stopping.abort();
      letGo();
      await run;
      expect([begun, ended]).to.deep.equal([2, 2]);
    });
  });

  describe('at a provider that ends idle grants, over sockets', () => {
    const LIFE = IDLE_DAYS * DAY;
    let server: ScriptableAs;
    let lastRefresh: number;

    beforeEach(async () => {
      await world.end();
      server = await startScriptableAs({ refresh: { kind: 'rotating' } });
      const { scopes: _scopes, ...tokens } = server.issue();
      world = await createWorld({ tokens, client: { id: CLIENT_ID, secret: CLIENT_SECRET } });
      process = await world.start(await server.fetchFor([AS]));
      lastRefresh = world.clock.at;
    });
    afterEach(closeAll);

    /** Advances the clock by a day; then the provider ends the grants that have expired. */
    async function passDay(): Promise<void> {
      world.clock.at += DAY;
      const { refresh_token: token } = await world.tokens();
      if (world.clock.at - lastRefresh > LIFE) server.kill(String(token));
    }

    async function isGrantAlive(): Promise<boolean> {
      return server.isAlive(String((await world.tokens())['refresh_token']));
    }

    it('loses a grant that is not refreshed (negative control)', async () => {
      for (let day = 0; day <= IDLE_DAYS; day++) await passDay();
      expect(await isGrantAlive()).to.equal(false);
      expect(await keeper().run()).to.deep.equal({ tried: 1, renewed: 0 });
      expect(await world.account()).to.include({ status: 'EXPIRED' });
    });

    it('keeps a grant for a year when it runs every day, with as few refreshes as necessary', async () => {
      for (let day = 0; day < 365; day++) {
        await passDay();
        if ((await keeper().run()).renewed > 0) lastRefresh = world.clock.at;
      }
      expect(await isGrantAlive()).to.equal(true);
      expect(await world.account()).to.include({ status: 'ACTIVE' });
      expect(server.tokenRequests.length).to.be.within(6, 8);
    });
  });
});
