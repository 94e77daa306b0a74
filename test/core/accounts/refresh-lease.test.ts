import { expect } from 'chai';
import type { AbandonedTokens } from '../../../core/accounts/refresh-run.ts';
import { withoutCredentials } from '../../../core/accounts/remove-account.ts';
import { type AccountChanges, type AccountRow, StorageError, type Store } from '../../../db/store.ts';
import { createWorld, gate, HOUR, RotatingProvider, type World } from './refresh-support.ts';

/** Milliseconds; longer than any lease of a refresh. */
const LEASE = 31_000;

describe('one refresh at a time', () => {
  let world: World;
  let provider: RotatingProvider;

  beforeEach(async () => {
    world = await createWorld();
    provider = new RotatingProvider();
    world.clock.at += HOUR;
  });
  afterEach(() => world.end());

  /** Blocks the first request at the provider, before it is processed or before its response is sent. */
  function holdFirst(where: 'before' | 'after') {
    const reached = gate();
    const release = gate();
    provider[where] = async () => {
      provider[where] = async () => {};
      reached.open();
      await release.opened;
    };
    return { reached: reached.opened, release: release.open };
  }

  async function change(store: Store, changes: Partial<AccountChanges>): Promise<void> {
    await store.write(async (tx) => {
      const row = (await tx.accounts.get(world.env, world.accountId)) as AccountRow;
      await tx.accounts.update(world.env, row.id, row.version, { ...changes, updatedAt: world.clock.at });
    });
  }

  const accessToken = async (account: AccountRow) => (await world.tokens(account))['access_token'];

  it('is required by the provider: a refresh token that is used twice ends the grant (negative control)', async () => {
    const { fetch } = provider;
    const spend = () => fetch('', { method: 'POST', body: 'refresh_token=rt-0' });
    expect((await spend()).status).to.equal(200);
    expect((await spend()).status).to.equal(400);
    expect(provider.alive).to.equal(false);
  });

  it('serves 200 callers of one process with one request (R1)', async () => {
    const { refresher } = await world.start(provider.fetch);
    const account = await world.account();
    const all = await Promise.all(Array.from({ length: 200 }, () => refresher.freshen(account, world.cause)));
    for (const fresh of all) expect(await accessToken(fresh)).to.equal('at-1');
    expect(provider.requests).to.equal(1);
    expect(provider.alive).to.equal(true);
  });

  it('writes twice for all callers of a process: once before the request, once after it', async () => {
    let writes = 0;
    const { store } = await world.start(provider.fetch);
    const counting: Store = {
      ...store,
      write(unit) {
        writes++;
        return store.write(unit);
      },
    };
    const { refresher } = await world.start(provider.fetch, { store: counting });
    const account = await world.account();
    await Promise.all(Array.from({ length: 200 }, () => refresher.freshen(account, world.cause)));
    expect(writes).to.equal(2);
  });

  it('serves 200 callers of two processes with one request (R1)', async () => {
    const processes = [await world.start(provider.fetch), await world.start(provider.fetch)];
    const account = await world.account();
    const calls = Array.from({ length: 200 }, (_, n) => processes[n % 2]?.refresher.freshen(account, world.cause));
    for (const fresh of await Promise.all(calls)) expect(await accessToken(fresh as AccountRow)).to.equal('at-1');
    expect(provider.requests).to.equal(1);
    expect(provider.alive).to.equal(true);
  });

  it('gives callers whose token was rejected and callers whose token has expired the result of the same refresh', async () => {
    const { refresher } = await world.start(provider.fetch);
    const account = await world.account();
    const [freshened, renewed] = await Promise.all([
      refresher.freshen(account, world.cause),
      refresher.refreshNow(account, world.cause),
    ]);
    expect(freshened).to.deep.equal(renewed);
    expect(provider.requests).to.equal(1);
  });

  it('makes another process wait for the refresh to end, and use its result', async () => {
    const first = await world.start(provider.fetch);
    const second = await world.start(provider.fetch);
    const account = await world.account();
    const held = holdFirst('after');
    const one = first.refresher.freshen(account, world.cause);
    await held.reached;
    const two = second.refresher.freshen(account, world.cause);
    held.release();
    expect(await two).to.deep.equal(await one);
    expect(provider.requests).to.equal(1);
  });

  it('returns a token that is still valid when another process takes long, and an error when it has expired', async () => {
    const limits = { leaseMs: HOUR };
    const first = await world.start(provider.fetch, { limits });
    const second = await world.start(provider.fetch, { limits: { ...limits, shortPatienceMs: 1_000 } });
    world.clock.at -= 10_000;
    const account = await world.account();
    const held = holdFirst('after');
    const one = first.refresher.freshen(account, world.cause);
    await held.reached;
    const early = world.clock.at;
    expect(await second.refresher.ensureFresh(account, world.cause)).to.deep.equal({ account });
    expect(world.clock.at - early).to.be.within(1_000, 3_000);
    world.clock.at += 10_000;
    const late = await second.refresher.ensureFresh(account, world.cause);
    expect(late.account).to.deep.equal(account);
    expect(late.error).to.include({ kind: 'service_busy', retryable: true, retryAfterMs: 1_000 });
    held.release();
    expect(await accessToken(await one)).to.equal('at-1');
    expect(provider.requests).to.equal(1);
  });

  it('does not make callers with a valid token wait for a slow provider, and stores the result when it arrives', async () => {
    const { refresher } = await world.start(provider.fetch, { limits: { shortPatienceMs: 1_000 } });
    world.clock.at -= 10_000;
    const account = await world.account();
    const held = holdFirst('after');
    expect(await refresher.freshen(account, world.cause)).to.equal(account);
    await held.reached;
    held.release();
    await refresher.idle();
    expect(await accessToken(await refresher.freshen(await world.account(), world.cause))).to.equal('at-1');
    expect(provider.requests).to.equal(1);
  });

  it('survives a storage failure after the callers have received their response', async () => {
    const { store } = await world.start(provider.fetch);
    const broken: Store = { ...store, write: () => Promise.reject(new StorageError('SQLITE_FULL', 'full')) };
    const { refresher } = await world.start(provider.fetch, { store: broken, limits: { shortPatienceMs: 0 } });
    world.clock.at -= 10_000;
    const account = await world.account();
    await refresher
      .freshen(account, world.cause)
      .catch((error: unknown) => expect(error).to.be.instanceOf(StorageError));
    await refresher.idle();
    expect(await world.account()).to.deep.equal(account);
  });

  describe('when a refresh takes longer than its lease (R4)', () => {
    it('its late failure never overwrites the success of its successor', async () => {
      const first = await world.start(provider.fetch);
      const second = await world.start(provider.fetch);
      const account = await world.account();
      const held = holdFirst('before');
      const one = first.refresher.freshen(account, world.cause);
      await held.reached;
      world.clock.at += LEASE;
      const fresh = await second.refresher.freshen(account, world.cause);
      expect(await accessToken(fresh)).to.equal('at-1');
      held.release();
      expect(await one).to.deep.equal(fresh);
      expect(await world.account()).to.deep.equal(fresh);
      expect(await world.audit()).to.deep.equal([]);
    });

    it('its late success never overwrites the result of its successor', async () => {
      const abandoned: AbandonedTokens[] = [];
      const first = await world.start(provider.fetch, { abandoned: async (late) => void abandoned.push(late) });
      const second = await world.start(provider.fetch);
      const account = await world.account();
      const held = holdFirst('after');
      const one = first.refresher.freshen(account, world.cause);
      await held.reached;
      world.clock.at += LEASE;
      const settled = await second.refresher.freshen(account, world.cause);
      expect(settled).to.include({ status: 'EXPIRED' });
      expect(settled.statusReason).to.match(/interrupted/);
      held.release();
      expect(await one).to.deep.equal(settled);
      expect(await world.account()).to.deep.equal(settled);
      expect(abandoned).to.deep.equal([]);
    });

    it('its result is stored if no other process has taken the lease', async () => {
      const first = await world.start(provider.fetch);
      const held = holdFirst('after');
      const one = first.refresher.freshen(await world.account(), world.cause);
      await held.reached;
      world.clock.at += 100 * LEASE;
      held.release();
      expect(await accessToken(await one)).to.equal('at-1');
    });

    it('it never releases the lease of its successor', async () => {
      let fails = true;
      const first = await world.start(async (url, init) => {
        const answer = await provider.fetch(url, init);
        return fails ? new Response('', { status: 500 }) : answer;
      });
      const second = await world.start(provider.fetch);
      const account = await world.account();
      const held = holdFirst('before');
      const one = first.refresher.freshen(account, world.cause);
      await held.reached;
      world.clock.at += LEASE;
      const heldToo = holdFirst('before');
      const two = second.refresher.freshen(account, world.cause);
      await heldToo.reached;
      const lease = await second.store.read.refreshLeases.get(world.env, world.accountId);
      held.release();
      await one;
      fails = false;
      expect(await second.store.read.refreshLeases.get(world.env, world.accountId)).to.deep.equal(lease);
      expect(lease).to.include({ state: 'HELD', fencing: 2 });
      heldToo.release();
      await two;
    });
  });

  describe('after a crash (R2)', () => {
    /** A process that never receives the response of its request. */
    async function crash(where: 'before' | 'after'): Promise<void> {
      const dying = await world.start(provider.fetch);
      const held = holdFirst(where);
      void dying.refresher.freshen(await world.account(), world.cause);
      await held.reached;
    }

    it('before the provider received the request, the stored token still works', async () => {
      await crash('before');
      world.clock.at += LEASE;
      const { refresher } = await world.start(provider.fetch);
      expect(await accessToken(await refresher.freshen(await world.account(), world.cause))).to.equal('at-1');
    });

    it('between rotation and commit, the stored token is tried once, and the account shows what happened', async () => {
      await crash('after');
      world.clock.at += LEASE;
      const { refresher } = await world.start(provider.fetch);
      const expired = await refresher.freshen(await world.account(), world.cause);
      expect(expired).to.include({ status: 'EXPIRED' });
      expect(expired.statusReason).to.match(/interrupted before its result could be stored/);
      await refresher.freshen(expired, world.cause);
      expect(provider.requests).to.equal(2);
      expect(await world.audit()).to.have.length(1);
    });

    it('a caller without a valid token waits until the lease of the crashed process ends, within its own time limit', async () => {
      await crash('before');
      const { refresher } = await world.start(provider.fetch, { limits: { patienceMs: 40_000 } });
      expect(await accessToken(await refresher.freshen(await world.account(), world.cause))).to.equal('at-1');
    });

    it('a failure that does not come from the provider leaves it unknown whether the token was rotated', async () => {
      await crash('after');
      world.clock.at += LEASE;
      let limited = true;
      const { refresher } = await world.start((url, init) =>
        limited ? Promise.resolve(new Response('', { status: 429 })) : provider.fetch(url, init),
      );
      const account = await world.account();
      expect((await refresher.ensureFresh(account, world.cause)).error).to.include({ kind: 'upstream_rate_limited' });
      limited = false;
      world.clock.at += 2_000;
      expect((await refresher.freshen(account, world.cause)).statusReason).to.match(/interrupted/);
    });

    it('a missing response counts as a sent request: the next rejection says that the token may have been rotated', async () => {
      let down = true;
      const { refresher } = await world.start(async (url, init) => {
        const answer = await provider.fetch(url, init);
        if (down) throw Object.assign(new Error('It was slow.'), { kind: 'timeout', sent: true });
        return answer;
      });
      const account = await world.account();
      const { error } = await refresher.ensureFresh(account, world.cause);
      expect(error).to.include({ kind: 'upstream_timeout' });
      down = false;
      world.clock.at += 2_000;
      expect((await refresher.freshen(account, world.cause)).statusReason).to.match(/interrupted/);
    });
  });

  describe('while the account changes (R3)', () => {
    async function during(action: (store: Store) => Promise<unknown>) {
      const abandoned: string[] = [];
      const before = await world.account();
      const { store, refresher } = await world.start(provider.fetch, {
        async abandoned({ account, current, tokens }) {
          expect(account).to.deep.equal(before);
          expect(current).to.deep.equal(await store.read.accounts.get(world.env, world.accountId));
          abandoned.push(tokens.refreshToken?.reveal() ?? '');
        },
      });
      const held = holdFirst('after');
      const flight = refresher.freshen(before, world.cause);
      await held.reached;
      await action(store);
      held.release();
      const result = await flight.catch((error: { code: string }) => error.code);
      return { result, abandoned, store };
    }

    it('a refresh does not restore a deleted account, and schedules its tokens for revocation', async () => {
      const { result, abandoned, store } = await during((store) =>
        store.write((tx) => tx.accounts.remove(world.env, world.accountId, world.clock.at)),
      );
      expect(result).to.equal('NOT_FOUND');
      expect(await store.read.accounts.get(world.env, world.accountId)).to.equal(undefined);
      expect(await store.read.refreshLeases.get(world.env, world.accountId)).to.equal(undefined);
      expect(abandoned).to.deep.equal(['rt-1']);
    });

    it('a refresh keeps the credentials of a new authorization, and schedules its own late tokens for revocation', async () => {
      const { result, abandoned } = await during(() => world.replaceTokens({ access_token: 'new' }));
      const account = await world.account();
      expect(result).to.deep.equal(account);
      expect(await world.tokens()).to.deep.equal({ access_token: 'new' });
      expect(account.credentialGeneration).to.equal(2);
      expect(abandoned).to.deep.equal(['rt-1']);
    });

    it('a refresh does not reconnect a disconnected account', async () => {
      const { abandoned } = await during(async (store) => {
        const account = await world.account();
        await change(store, { ...withoutCredentials(account), status: 'DISCONNECTED' });
        // A caller that now requests another token gets none.
        const { refresher } = await world.start(provider.fetch);
        expect(await refresher.refreshNow(account, world.cause)).to.equal(null);
      });
      expect(await world.account()).to.include({ status: 'DISCONNECTED', credentialsSealed: null });
      expect(abandoned).to.deep.equal(['rt-1']);
    });

    it('a refresh does not reactivate an account whose hosts have changed', async () => {
      const { abandoned } = await during((store) => change(store, { status: 'PENDING_AUTH' }));
      expect(await world.account()).to.include({ status: 'PENDING_AUTH', credentialGeneration: 1 });
      expect(abandoned).to.deep.equal(['rt-1']);
    });

    it('a refresh keeps both the new tokens and another change of the account', async () => {
      const { abandoned } = await during((store) => change(store, { apiConfig: { region: 'eu' } }));
      const account = await world.account();
      expect(account.apiConfig).to.deep.equal({ region: 'eu' });
      expect(await world.tokens()).to.include({ access_token: 'at-1', refresh_token: 'rt-1' });
      expect(abandoned).to.deep.equal([]);
    });

    it('a refresh does not lose the rotated token when a change kept the used one', async () => {
      const { abandoned } = await during(() =>
        world.replaceTokens({ access_token: 'at-0', refresh_token: 'rt-0', domain: 'acme.example' }),
      );
      expect(await world.tokens()).to.deep.equal({
        access_token: 'at-1',
        refresh_token: 'rt-1',
        domain: 'acme.example',
      });
      expect((await world.account()).credentialGeneration).to.equal(3);
      expect(abandoned).to.deep.equal([]);
    });

    it('a refresh never stores tokens for other hosts, even with the same refresh token', async () => {
      const tokens = { access_token: 'at-0', refresh_token: 'rt-0' };
      const { abandoned } = await during(() =>
        world.replaceTokens(tokens, world.accountId, ['https://as.example', 'https://moved.example']),
      );
      expect(await world.tokens()).to.deep.equal(tokens);
      expect(abandoned).to.deep.equal(['rt-1']);
    });

    it('a rejection of a token that was replaced meanwhile is ignored', async () => {
      provider.alive = false;
      await during(() => world.replaceTokens({ access_token: 'new' }));
      expect(await world.account()).to.include({ status: 'ACTIVE', credentialGeneration: 2 });
      expect(await world.audit()).to.deep.equal([]);
    });

    it('a refresh continues when the revocation of tokens cannot be scheduled', async () => {
      const { refresher } = await world.start(provider.fetch, {
        abandoned: () => Promise.reject(new Error('no outbox')),
      });
      const held = holdFirst('after');
      const flight = refresher.freshen(await world.account(), world.cause);
      await held.reached;
      await world.replaceTokens({ access_token: 'new' });
      held.release();
      expect(await accessToken(await flight)).to.equal('new');
    });
  });

  describe('with a clock that jumps (R7)', () => {
    it('a refresh is not blocked by a lease that was written under a clock ahead', async () => {
      const dying = await world.start(provider.fetch);
      const held = holdFirst('before');
      world.clock.at += 1000 * HOUR;
      void dying.refresher.freshen(await world.account(), world.cause);
      await held.reached;
      world.clock.at -= 1000 * HOUR;
      const { refresher } = await world.start(provider.fetch);
      expect(await accessToken(await refresher.freshen(await world.account(), world.cause))).to.equal('at-1');
    });

    it('a retry is not delayed by a failure that was recorded under a clock ahead', async () => {
      let down = true;
      const { refresher } = await world.start((url, init) =>
        down ? Promise.resolve(new Response('', { status: 500 })) : provider.fetch(url, init),
      );
      const account = await world.account();
      world.clock.at += 1000 * HOUR;
      await refresher.freshen(account, world.cause);
      world.clock.at -= 1000 * HOUR;
      down = false;
      expect(await accessToken(await refresher.freshen(account, world.cause))).to.equal('at-1');
    });

    it('a token whose expiry was written under a clock ahead is refreshed', async () => {
      const { refresher } = await world.start(provider.fetch);
      world.clock.at += 1000 * HOUR;
      const fromTheFuture = await refresher.freshen(await world.account(), world.cause);
      world.clock.at -= 1000 * HOUR;
      const now = await refresher.freshen(fromTheFuture, world.cause);
      expect(now.tokenExpiresAt).to.equal(world.clock.at + HOUR);
      expect(provider.requests).to.equal(2);
    });

    it('a stored expiry is never later than the provider meant, even after a slow response', async () => {
      const { refresher } = await world.start(provider.fetch);
      const asked = world.clock.at;
      provider.after = async () => {
        world.clock.at += 12_000;
      };
      const fresh = await refresher.freshen(await world.account(), world.cause);
      expect(fresh.tokenExpiresAt).to.equal(asked + HOUR);
    });
  });

  it('a refresh ends before the store is closed', async () => {
    const { store, refresher } = await world.start(provider.fetch);
    const held = holdFirst('after');
    const flight = refresher.freshen(await world.account(), world.cause);
    await held.reached;
    let idle = false;
    const end = refresher.idle().then(() => {
      idle = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(idle).to.equal(false);
    held.release();
    await Promise.all([end, flight]);
    expect(await store.read.refreshLeases.get(world.env, world.accountId)).to.include({ state: 'SETTLED' });
  });
});
