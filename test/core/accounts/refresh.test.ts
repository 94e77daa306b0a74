import { expect } from 'chai';
import { HOSTS_CHANGED } from '../../../core/accounts/binding.ts';
import { ApiError } from '../../../core/errors.ts';
import type { ProtocolFetch } from '../../../core/oauth/transport.ts';
import { RelationError, StorageError, type Store } from '../../../db/store.ts';
import { createWorld, gate, HOUR, RotatingProvider, START, type World, type WorldOptions } from './refresh-support.ts';

const GOOD = { access_token: 'at-1', refresh_token: 'rt-1', token_type: 'Bearer', expires_in: 3600 };

function answering(status: number, body: unknown, headers: Record<string, string> = {}): ProtocolFetch {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return async () => new Response(text, { status, headers });
}

function failing(kind: string, sent: boolean): ProtocolFetch {
  return () => Promise.reject(Object.assign(new Error(`It was ${kind}.`), { kind, sent }));
}

const nothingSent: ProtocolFetch = () => Promise.reject(new Error('nothing may be sent'));

describe('refreshing an account', () => {
  let world: World;

  async function begin(options: WorldOptions = {}) {
    world = await createWorld(options);
    return world;
  }
  afterEach(() => world.end());

  it('sends nothing for a token that is valid for long', async () => {
    await begin();
    const { refresher } = await world.start(nothingSent);
    const account = await world.account();
    expect(await refresher.freshen(account, world.cause)).to.equal(account);
  });

  it('sends nothing for a token without a known expiry, and for an account that is not active', async () => {
    await begin({ expiresIn: null });
    const { refresher } = await world.start(nothingSent);
    const account = await world.account();
    world.clock.at += 10 * HOUR;
    expect(await refresher.freshen(account, world.cause)).to.equal(account);
    const parked = { ...account, status: 'PENDING_AUTH' as const, tokenExpiresAt: START };
    expect(await refresher.freshen(parked, world.cause)).to.equal(parked);
    expect(await refresher.refreshNow(parked, world.cause)).to.equal(null);
  });

  it('stores new tokens under a new generation before it returns them', async () => {
    await begin();
    const provider = new RotatingProvider();
    const { refresher } = await world.start(provider.fetch);
    const before = await world.account();
    world.clock.at += HOUR;
    const fresh = await refresher.freshen(before, world.cause);
    expect(fresh).to.deep.equal(await world.account());
    expect(fresh.credentialGeneration).to.equal(2);
    expect(fresh.tokenExpiresAt).to.equal(world.clock.at + HOUR);
    expect(fresh.wrappedDataKey).not.to.deep.equal(before.wrappedDataKey);
    expect(await world.tokens(fresh)).to.deep.equal({
      access_token: 'at-1',
      refresh_token: 'rt-1',
      scopes: ['a', 'b'],
    });
    expect(await world.audit()).to.deep.equal([]);
  });

  it('works repeatedly', async () => {
    await begin();
    const provider = new RotatingProvider();
    const { refresher } = await world.start(provider.fetch);
    for (let round = 1; round <= 5; round++) {
      world.clock.at += HOUR;
      const fresh = await refresher.freshen(await world.account(), world.cause);
      expect((await world.tokens(fresh))['access_token']).to.equal(`at-${round}`);
    }
    expect(provider.requests).to.equal(5);
    expect(provider.alive).to.equal(true);
  });

  it('keeps the values that the response does not replace (R5)', async () => {
    const tokens = { access_token: 'at-0', refresh_token: 'rt-0', scopes: ['a', 'b'], domain: 'acme.example' };
    await begin({ tokens });
    const { refresher } = await world.start(answering(200, { access_token: 'at-1', refresh_token: '', scope: 'a' }));
    world.clock.at += HOUR;
    const fresh = await refresher.freshen(await world.account(), world.cause);
    expect(await world.tokens(fresh)).to.deep.equal({ ...tokens, access_token: 'at-1', scopes: ['a'] });
    expect(fresh.publicDetails).to.deep.equal({ oauth_token: { scopes: ['a'], domain: 'acme.example' } });
    expect(fresh.tokenExpiresAt).to.equal(null);
  });

  describe('does not overwrite valid tokens with (R5)', () => {
    const answers: [title: string, fetch: ProtocolFetch][] = [
      ['a page', answering(200, '<html>Sign in</html>')],
      ['nothing', answering(200, '')],
      ['an answer without a token', answering(200, { token_type: 'Bearer' })],
      ['an empty token', answering(200, { ...GOOD, access_token: '' })],
      ['a token of another type', answering(200, { ...GOOD, token_type: 'mac' })],
      ['an error in a 200', answering(200, { ok: false, error: 'something_else' })],
      ['a server error with a token', answering(500, GOOD)],
      ['a redirect with a token', answering(302, GOOD)],
      ['something huge', answering(200, { ...GOOD, padding: 'x'.repeat(400_000) })],
    ];
    for (const [title, fetch] of answers) {
      it(title, async () => {
        await begin();
        const { refresher } = await world.start(fetch);
        const before = await world.account();
        world.clock.at += HOUR - 10_000;
        expect(await refresher.freshen(before, world.cause)).to.deep.equal(before);
        expect(await world.account()).to.deep.equal(before);
      });
    }
  });

  describe('when the provider cannot be reached (R6)', () => {
    const cases: [title: string, fetch: ProtocolFetch, kind: string, retryable: boolean][] = [
      ['it cannot be reached', failing('unreachable', false), 'upstream_unreachable', true],
      ['it is too slow', failing('timeout', true), 'upstream_timeout', true],
      ['it fails', answering(503, ''), 'upstream_server_error', true],
      ['it asks for fewer requests', answering(429, ''), 'upstream_rate_limited', true],
      ['it answers nonsense', answering(200, 'hello'), 'upstream_invalid_response', true],
      ['the rules of egress forbid it', failing('blocked', false), 'blocked_by_egress_policy', false],
      ['it does not know the client', answering(401, { error: 'invalid_client' }), 'upstream_auth', false],
    ];
    for (const [title, fetch, kind, retryable] of cases) {
      it(`returns the token while it is valid, and an error after its expiry: ${title}`, async () => {
        await begin();
        const { refresher } = await world.start(fetch);
        const before = await world.account();
        world.clock.at += HOUR - 10_000;
        expect(await refresher.ensureFresh(before, world.cause)).to.deep.equal({ account: before });
        world.clock.at += HOUR;
        const { account, error } = await refresher.ensureFresh(before, world.cause);
        expect(account).to.deep.equal(before);
        expect(error).to.include({ kind, retryable });
        expect(await refresher.freshen(before, world.cause)).to.deep.equal(before);
        expect(await refresher.refreshNow(before, world.cause)).to.equal(null);
        expect((await world.account()).status).to.equal('ACTIVE');
      });
    }

    it('waits longer after each failure, and does not wait after a success', async () => {
      await begin();
      let requests = 0;
      let fetch = answering(500, '');
      const { refresher } = await world.start((url, init) => {
        requests++;
        return fetch(url, init);
      });
      const before = await world.account();
      world.clock.at += HOUR;
      const waits: number[] = [];
      for (let round = 1; round <= 8; round++) {
        const first = await refresher.ensureFresh(before, world.cause);
        const again = await refresher.ensureFresh(before, world.cause);
        expect(requests).to.equal(round);
        expect(again.error).to.include({ kind: 'upstream_server_error', retryable: true });
        expect(again.error?.retryAfterMs).to.equal(first.error?.retryAfterMs);
        waits.push(first.error?.retryAfterMs ?? 0);
        world.clock.at += first.error?.retryAfterMs ?? 0;
      }
      for (const [round, ms] of waits.entries()) {
        expect(ms).to.be.within(Math.min(60_000, 1000 * 2 ** round) / 2, Math.min(60_000, 1000 * 2 ** round));
      }
      fetch = answering(200, GOOD);
      expect((await refresher.freshen(before, world.cause)).credentialGeneration).to.equal(2);
      world.clock.at += HOUR;
      fetch = answering(500, '');
      const { error } = await refresher.ensureFresh(await world.account(), world.cause);
      expect(error?.retryAfterMs).to.be.within(500, 1000);
    });

    it('emits an event for the first of several consecutive failures, and again after a success', async () => {
      await begin();
      let fetch = answering(500, '');
      const { refresher } = await world.start((url, init) => fetch(url, init));
      const failures = async () => {
        for (let round = 0; round < 3; round++) {
          world.clock.at += HOUR;
          await refresher.ensureFresh(await world.account(), world.cause);
        }
      };
      await failures();
      const [event, ...others] = await world.audit();
      expect(event).to.have.property('action', 'connected_account.refresh_failed');
      expect(event?.details).to.have.all.keys('reason');
      expect(others).to.deep.equal([]);
      fetch = answering(200, GOOD);
      world.clock.at += HOUR;
      expect((await refresher.freshen(await world.account(), world.cause)).credentialGeneration).to.equal(2);
      fetch = answering(500, '');
      await failures();
      expect((await world.audit()).map(({ action }) => action)).to.deep.equal([
        'connected_account.refresh_failed',
        'connected_account.refresh_failed',
      ]);
    });

    it('writes nothing while it waits for the next attempt', async () => {
      await begin();
      const { store } = await world.start(nothingSent);
      let writes = 0;
      const counting: Store = {
        ...store,
        write(unit) {
          writes++;
          return store.write(unit);
        },
      };
      const { refresher } = await world.start(answering(500, ''), { store: counting });
      world.clock.at += HOUR;
      const before = await world.account();
      for (let n = 0; n < 5; n++) await refresher.freshen(before, world.cause);
      expect(writes).to.equal(2);
    });

    it('retries at the time that the provider states, within limits', async () => {
      await begin();
      let seconds = '90';
      const { refresher } = await world.start((url, init) => answering(429, '', { 'retry-after': seconds })(url, init));
      world.clock.at += HOUR;
      const first = await refresher.ensureFresh(await world.account(), world.cause);
      expect(first.error?.retryAfterMs).to.equal(90_000);
      world.clock.at += 90_000;
      seconds = '86400';
      const second = await refresher.ensureFresh(await world.account(), world.cause);
      expect(second.error?.retryAfterMs).to.equal(15 * 60_000);
    });

    it('uses credentials immediately that were stored in the meantime', async () => {
      await begin();
      const provider = new RotatingProvider('new');
      let down = true;
      const { refresher } = await world.start((url, init) => (down ? answering(500, '') : provider.fetch)(url, init));
      world.clock.at += HOUR;
      const { error } = await refresher.ensureFresh(await world.account(), world.cause);
      expect(error).to.include({ kind: 'upstream_server_error' });
      down = false;
      expect(await refresher.refreshNow(await world.account(), world.cause)).to.equal(null);
      await world.replaceTokens({ refresh_token: 'new-0' });
      expect(await refresher.refreshNow(await world.account(), world.cause)).to.include({ credentialGeneration: 3 });
    });
  });

  describe('when the grant has ended (R6)', () => {
    it('deactivates the account once, with a reason and an event', async () => {
      await begin();
      let requests = 0;
      const { refresher } = await world.start((url, init) => {
        requests++;
        return answering(400, { error: 'invalid_grant' })(url, init);
      });
      const before = await world.account();
      world.clock.at += HOUR;
      const expired = await refresher.freshen(before, world.cause);
      expect(expired.status).to.equal('EXPIRED');
      expect(expired.statusReason).to.match(/no longer accepts the refresh token \(invalid_grant\)/);
      expect(await world.account()).to.deep.equal(expired);
      expect(await world.audit()).to.deep.equal([
        { action: 'connected_account.expired', details: { reason: expired.statusReason } },
      ]);
      expect(await refresher.freshen(before, world.cause)).to.deep.equal(expired);
      expect(await refresher.freshen(expired, world.cause)).to.equal(expired);
      expect(await refresher.refreshNow(before, world.cause)).to.equal(null);
      expect(requests).to.equal(1);
      expect(await world.audit()).to.have.length(1);
    });

    it('deactivates an account whose token has expired and that has no refresh token', async () => {
      await begin({ tokens: { access_token: 'at-0' } });
      const { refresher } = await world.start(nothingSent);
      const before = await world.account();
      world.clock.at += HOUR - 1;
      expect(await refresher.freshen(before, world.cause)).to.deep.equal(before);
      world.clock.at += 1;
      const expired = await refresher.freshen(before, world.cause);
      expect(expired).to.include({ status: 'EXPIRED' });
      expect(expired.statusReason).to.match(/there is no refresh token/);
      expect(await world.audit()).to.have.length(1);
    });

    it('keeps an account active that is authorized again at the same moment', async () => {
      await begin({ tokens: { access_token: 'at-0' } });
      const { store } = await world.start(nothingSent);
      const late: Store = {
        ...store,
        async write(unit) {
          await world.replaceTokens({ access_token: 'new' });
          return store.write(unit);
        },
      };
      const { refresher } = await world.start(nothingSent, { store: late });
      world.clock.at += HOUR;
      const fresh = await refresher.freshen(await world.account(), world.cause);
      expect(fresh).to.include({ status: 'ACTIVE', credentialGeneration: 2 });
      expect(await world.audit()).to.deep.equal([]);
    });

    it('gets a new token for a machine client by the client credentials grant, even if it has a refresh token', async () => {
      await begin({ type: 'OAUTH_M2M' });
      const sent: string[] = [];
      const { refresher } = await world.start(async (_url, init) => {
        sent.push(new URLSearchParams(String(init?.body)).toString());
        return Response.json({ access_token: 'at-1', expires_in: 60 });
      });
      world.clock.at += HOUR;
      expect((await refresher.freshen(await world.account(), world.cause)).credentialGeneration).to.equal(2);
      expect(sent).to.deep.equal(['grant_type=client_credentials']);
    });

    it('refreshes an account of type SMART_FHIR that has a refresh token', async () => {
      await begin({ type: 'SMART_FHIR' });
      const { refresher } = await world.start(new RotatingProvider().fetch);
      world.clock.at += HOUR;
      expect((await refresher.freshen(await world.account(), world.cause)).credentialGeneration).to.equal(2);
    });
  });

  describe('sends', () => {
    const cases: [title: string, options: WorldOptions, message: RegExp][] = [
      ['without a client id', { client: { id: null } }, /no client_id/],
      ['without a client secret', { client: { secret: null } }, /no client secret/],
      ['while the connection is disabled', { enabled: false }, /disabled/],
      ['where the provider has no token endpoint', { oauth: { token_uri: undefined } }, /no token_uri/],
      ['where a value of the address is missing', { oauth: { token_uri: 'https://{{d}}.a.example/t' } }, /required/],
    ];
    for (const [title, options, message] of cases) {
      it(`nothing ${title}, and does not change the account`, async () => {
        await begin(options);
        const { refresher } = await world.start(nothingSent);
        const before = await world.account();
        world.clock.at += HOUR;
        const { account, error } = await refresher.ensureFresh(before, world.cause);
        expect(account).to.deep.equal(before);
        expect(error).to.include({ kind: 'upstream_auth', retryable: false });
        expect(error?.message).to.match(message);
      });
    }

    it('nothing to a token endpoint that the credentials were not issued for: the account waits for a new authorization (P2)', async () => {
      await begin({ oauth: { token_uri: 'https://evil.example/token' } });
      const { refresher } = await world.start(nothingSent);
      world.clock.at += HOUR;
      const parked = await refresher.freshen(await world.account(), world.cause);
      expect(parked).to.include({ status: 'PENDING_AUTH', statusReason: HOSTS_CHANGED, credentialGeneration: 1 });
    });

    it('only a client id for a client that registered itself with an MCP provider and received no secret', async () => {
      await begin({ isMcp: true, client: { secret: null } });
      let form = new URLSearchParams();
      const { refresher } = await world.start(async (url, init) => {
        form = new URLSearchParams(String(init?.body));
        expect(new Headers(init?.headers).has('authorization')).to.equal(false);
        return answering(200, GOOD)(url, init);
      });
      world.clock.at += HOUR;
      expect(await refresher.freshen(await world.account(), world.cause)).to.include({ credentialGeneration: 2 });
      expect([...form.keys()].sort()).to.deep.equal(['client_id', 'grant_type', 'refresh_token']);
    });

    it('nothing to a refresh endpoint that the credentials were not issued for (P2)', async () => {
      for (const refresh of [
        { uri: 'https://evil.example/refresh' },
        { call: { uri: 'https://evil.example/x/{{refresh_token}}' } },
      ]) {
        await begin({ oauth: { refresh } });
        const { refresher } = await world.start(nothingSent);
        world.clock.at += HOUR;
        expect(await refresher.freshen(await world.account(), world.cause)).to.include({ status: 'PENDING_AUTH' });
        if (refresh.uri) await world.end();
      }
    });

    it('nothing while the provider refuses refreshes because the token is too new', async () => {
      await begin({ oauth: { refresh: { margin_s: 30 } } });
      const provider = new RotatingProvider();
      const { refresher } = await world.start(provider.fetch);
      const before = await world.account();
      world.clock.at += HOUR - 31_000;
      expect(await refresher.freshen(before, world.cause)).to.deep.equal(before);
      expect(provider.requests).to.equal(0);
      world.clock.at += 2_000;
      expect(await refresher.freshen(before, world.cause)).to.include({ credentialGeneration: 2 });
    });

    it('requests to the refresh endpoint if the provider has one, with the scopes if they are required', async () => {
      await begin({ oauth: { refresh: { uri: 'https://api.acme.example/refresh', with_scopes: true } } });
      const sent: [string, string | null][] = [];
      const pinned: string[] = [];
      const { refresher } = await world.start(nothingSent, {
        fetchFor: (_env, origins) => {
          pinned.push(...origins);
          return async (url, init) => {
            sent.push([String(url), new URLSearchParams(String(init?.body)).get('scope')]);
            return Response.json(GOOD);
          };
        },
      });
      world.clock.at += HOUR;
      await refresher.freshen(await world.account(), world.cause);
      expect(sent).to.deep.equal([['https://api.acme.example/refresh', 'a b']]);
      expect(pinned).to.deep.equal(['https://api.acme.example']);
    });

    it('requests only to the origin of the token endpoint', async () => {
      await begin();
      const asked: unknown[] = [];
      const { refresher } = await world.start(nothingSent, {
        fetchFor: (env, origins) => {
          asked.push([env, ...origins]);
          return new RotatingProvider().fetch;
        },
      });
      world.clock.at += HOUR;
      await refresher.freshen(await world.account(), world.cause);
      expect(asked).to.deep.equal([[world.env, 'https://as.example']]);
    });
  });

  describe('after the provider has rejected a token', () => {
    it('gets a new one, even if the stored token has no known expiry', async () => {
      for (const expiresIn of [HOUR, null]) {
        await begin({ expiresIn });
        const { refresher } = await world.start(new RotatingProvider().fetch);
        const renewed = await refresher.refreshNow(await world.account(), world.cause);
        expect(renewed).to.include({ credentialGeneration: 2 });
        if (expiresIn !== null) await world.end();
      }
    });

    it('returns a token that another caller has obtained meanwhile, without another request', async () => {
      await begin();
      const provider = new RotatingProvider();
      const { refresher } = await world.start(provider.fetch);
      const before = await world.account();
      await refresher.refreshNow(before, world.cause);
      expect(await refresher.refreshNow(before, world.cause)).to.include({ credentialGeneration: 2 });
      expect(provider.requests).to.equal(1);
    });

    it('returns nothing when the token was issued a moment ago, because a new one would be rejected as well', async () => {
      await begin();
      const provider = new RotatingProvider();
      const { refresher } = await world.start(provider.fetch);
      const first = await refresher.refreshNow(await world.account(), world.cause);
      world.clock.at += 9_000;
      expect(await refresher.refreshNow(first as never, world.cause)).to.equal(null);
      expect(provider.requests).to.equal(1);
      world.clock.at += 2_000;
      expect(await refresher.refreshNow(first as never, world.cause)).to.include({ credentialGeneration: 3 });
    });

    it('returns nothing without a refresh token, and does not change the account', async () => {
      await begin({ tokens: { access_token: 'at-0' } });
      const { refresher } = await world.start(nothingSent);
      const before = await world.account();
      expect(await refresher.refreshNow(before, world.cause)).to.equal(null);
      expect(await world.account()).to.deep.equal(before);
    });

    it('returns nothing when the grant has ended, and the account is not active', async () => {
      await begin();
      const { refresher } = await world.start(answering(400, { error: 'invalid_grant' }));
      expect(await refresher.refreshNow(await world.account(), world.cause)).to.equal(null);
      expect((await world.account()).status).to.equal('EXPIRED');
    });

    it('returns nothing when the account was deleted', async () => {
      await begin();
      const { store, refresher } = await world.start(nothingSent);
      const before = await world.account();
      await store.write((tx) => tx.accounts.remove(world.env, world.accountId, world.clock.at));
      expect(await refresher.refreshNow(before, world.cause)).to.equal(null);
      world.clock.at += HOUR;
      const thrown = await refresher.freshen(before, world.cause).catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(ApiError).and.include({ code: 'NOT_FOUND' });
    });
  });

  describe('when the storage fails (R2)', () => {
    /** Returns a store whose writes fail from the second one on, a given number of times. */
    function troubled(store: Store, times: number, trouble: Error = new StorageError('SQLITE_FULL', 'full')): Store {
      let writes = 0;
      return {
        ...store,
        write: (unit) => {
          const failure = ++writes > 1 && writes <= times + 1;
          return failure ? Promise.reject(trouble) : store.write(unit);
        },
      };
    }

    for (const trouble of [new StorageError('SQLITE_FULL', 'full'), new RelationError('the key was retired')]) {
      it(`writes the new tokens again until they are stored: ${trouble.message}`, async () => {
        await begin();
        const provider = new RotatingProvider();
        const { store } = await world.start(provider.fetch);
        const { refresher } = await world.start(provider.fetch, { store: troubled(store, 3, trouble) });
        world.clock.at += HOUR;
        const fresh = await refresher.freshen(await world.account(), world.cause);
        expect((await world.tokens(fresh))['access_token']).to.equal('at-1');
        expect(provider.requests).to.equal(1);
      });
    }

    it('gives up at the end, and the next process reports what happened', async () => {
      await begin();
      const provider = new RotatingProvider();
      const { store } = await world.start(provider.fetch);
      const { refresher } = await world.start(provider.fetch, { store: troubled(store, 99) });
      world.clock.at += HOUR;
      const before = await world.account();
      const thrown = await refresher.freshen(before, world.cause).catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(StorageError);
      expect(await world.account()).to.deep.equal(before);
      world.clock.at += HOUR;
      const next = await world.start(provider.fetch);
      const expired = await next.refresher.freshen(before, world.cause);
      expect(expired).to.include({ status: 'EXPIRED' });
      expect(expired.statusReason).to.match(/interrupted before its result could be stored/);
    });

    it('releases the lease after an internal error', async () => {
      await begin();
      const provider = new RotatingProvider();
      let broken = true;
      const { refresher } = await world.start((url, init) => {
        if (broken) throw new TypeError('a mistake');
        return provider.fetch(url, init);
      });
      world.clock.at += HOUR;
      const before = await world.account();
      const thrown = await refresher.freshen(before, world.cause).catch((error: unknown) => error);
      expect(thrown).to.be.instanceOf(TypeError);
      broken = false;
      world.clock.at += 2_000;
      expect((await refresher.freshen(before, world.cause)).credentialGeneration).to.equal(2);
    });
  });

  it('writes no secret to the log', async () => {
    await begin();
    const echo = { error: 'rt-0', error_description: 's3cret-of-the-client at-0' };
    for (const fetch of [answering(400, echo), answering(500, echo), failing('timeout', true)]) {
      const { refresher } = await world.start(fetch);
      world.clock.at += HOUR;
      await refresher.freshen(await world.account(), world.cause);
    }
    expect(world.logged).to.have.length(3);
    expect(world.logged.join('\n')).not.to.match(/rt-0|at-0|s3cret/);
  });

  it('F10: returns the time to try again if no slot is free in time, and refreshes the account later', async () => {
    await begin();
    const provider = new RotatingProvider();
    const held = gate();
    provider.before = () => held.opened;
    const limits = { total: 2, first: 1, most: 1, waitMs: 1 };
    const { refresher } = await world.start(provider.fetch, { limits });
    const other = await world.account(await world.addAccount('bob'));
    world.clock.at += HOUR;
    const slow = refresher.freshen(await world.account(), world.cause);
    while (provider.requests === 0) await new Promise((resolve) => setImmediate(resolve));

    const { account, error } = await refresher.ensureFresh(other, world.cause);
    expect(account).to.deep.equal(other);
    expect(error).to.include({ kind: 'service_busy', retryable: true });
    expect(error?.retryAfterMs).to.be.within(1_000, 60_000);
    for (const refused of [refresher.freshen(other, world.cause), refresher.refreshNow(other, world.cause)]) {
      const failure = await refused.catch((thrown: unknown) => thrown);
      expect(failure).to.be.instanceOf(ApiError).and.include({ code: 'SERVER_BUSY' });
    }
    held.open();
    await slow;
    expect((await refresher.refreshNow(other, world.cause))?.status).to.not.equal('ACTIVE');
    expect(provider.requests).to.equal(2);
  });

  it('returns a valid token immediately while all slots are in use (R8)', async () => {
    await begin();
    const { refresher } = await world.start(nothingSent, { limits: { total: 0 } });
    const before = await world.account();
    world.clock.at += HOUR - 10_000;
    expect(await refresher.freshen(before, world.cause)).to.deep.equal(before);
  });
});
