import { expect } from 'chai';
import fc from 'fast-check';
import { createRateLimiter, rateLimitHeaders } from '../../http/pipeline/rate-limit.ts';
import { createApiClient } from '../support/api-clients.ts';
import { testClock } from '../support/clock.ts';
import { addSecondEnvironment } from '../support/second-environment.ts';
import type { TestServer } from '../support/server.ts';
import { CLIENT_ID, startTestServer } from '../support/server.ts';
import { requestToken } from '../support/token-request.ts';

describe('createRateLimiter', () => {
  it('allows a burst, then one request per interval', () => {
    const clock = testClock();
    const limit = createRateLimiter(5, clock.now);
    const take = (times: number) => Array.from({ length: times }, () => limit('a').allowed);
    expect(take(6)).to.deep.equal([true, true, true, true, true, false]);
    clock.advance(199);
    expect(take(1)).to.deep.equal([false]);
    clock.advance(1);
    expect(take(2)).to.deep.equal([true, false]);
    clock.advance(60_000);
    expect(take(6)).to.deep.equal([true, true, true, true, true, false]);
  });

  it('refills the share of one process, and at least one request per second', () => {
    const clock = testClock();
    let processes = 2;
    const limit = createRateLimiter(4, clock.now, () => processes);
    const take = (times: number) => Array.from({ length: times }, () => limit('a').allowed);
    expect(take(5)).to.deep.equal([true, true, true, true, false]);
    clock.advance(1000);
    expect(take(3)).to.deep.equal([true, true, false]);
    processes = 100;
    clock.advance(1000);
    expect(take(2)).to.deep.equal([true, false]);
  });

  it('never allows more than the burst and what has been refilled, in any order of requests', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 400 }), fc.integer({ min: 1, max: 10 })), { maxLength: 60 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), steps, (perSecond, arrivals) => {
        const clock = testClock();
        const limit = createRateLimiter(perSecond, clock.now);
        const start = clock.now();
        let allowed = 0;
        for (const [pause, count] of arrivals) {
          clock.advance(pause);
          for (let sent = 0; sent < count; sent++) if (limit('a').allowed) allowed += 1;
          expect(allowed).to.be.at.most(perSecond + ((clock.now() - start) / 1000) * perSecond + 1e-6);
        }
      }),
    );
  });

  it('counts each caller separately', () => {
    const limit = createRateLimiter(1, testClock().now);
    expect([limit('a').allowed, limit('b').allowed, limit('a').allowed]).to.deep.equal([true, true, false]);
  });

  it('works with a clock that goes back', () => {
    const clock = testClock();
    const limit = createRateLimiter(2, clock.now);
    limit('a');
    clock.advance(-3_600_000);
    expect(limit('a').allowed).to.equal(true);
    clock.advance(500);
    expect(limit('a').allowed).to.equal(true);
  });

  it('tells a refused caller when to retry, in whole seconds', () => {
    const limit = createRateLimiter(1, testClock().now);
    limit('a');
    const state = limit('a');
    expect(state).to.deep.equal({ allowed: false, remaining: 0, resetSeconds: 1 });
    expect(rateLimitHeaders(1, state)).to.deep.equal({
      'ratelimit-policy': '"client";q=1;w=1',
      ratelimit: '"client";r=0;t=1',
      'retry-after': '1',
    });
  });
});

describe('the limit of requests', () => {
  let server: TestServer;
  const clock = testClock();

  before(async () => {
    server = await startTestServer({ env: { VALETKEY_RATE_LIMIT: '3' }, overrides: { now: clock.now } });
  });
  beforeEach(() => clock.advance(10_000));
  after(() => server.stop());

  it('returns 429 with Retry-After, and the state of the limit on every response', async () => {
    const answers = [];
    for (let sent = 0; sent < 4; sent++) answers.push(await server.call('GET', '/api/v1/tools?page_size=1'));
    expect(answers.map((answer) => answer.status)).to.deep.equal([200, 200, 200, 429]);
    expect(answers.map((answer) => answer.headers['ratelimit'])).to.deep.equal([
      '"client";r=2;t=1',
      '"client";r=1;t=1',
      '"client";r=0;t=1',
      '"client";r=0;t=1',
    ]);
    const refused = answers[3];
    expect(refused?.body).to.include({ code: 'RATE_LIMITED' });
    expect(refused?.headers).to.include({ 'retry-after': '1', 'ratelimit-policy': '"client";q=3;w=1' });
    clock.advance(1000);
    expect((await server.call('GET', '/api/v1/tools?page_size=1')).status).to.equal(200);
  });

  it('does not affect other clients', async () => {
    const other = await createApiClient(server);
    const { access_token: token } = (await other.requestToken()).body;
    for (let sent = 0; sent < 4; sent++) await server.call('GET', '/api/v1/tools?page_size=1');
    expect((await server.call('GET', '/api/v1/tools?page_size=1')).status).to.equal(429);
    expect((await server.call('GET', '/api/v1/tools?page_size=1', { token })).status).to.equal(200);
  });

  it('does not affect a client of the same name in another environment', async () => {
    const other = await addSecondEnvironment(server);
    for (let sent = 0; sent < 4; sent++) await server.call('GET', '/api/v1/tools?page_size=1');
    expect((await other.call('GET', '/api/v1/tools?page_size=1')).status).to.equal(200);
  });

  it('slows the guessing of secrets by address, but no client that has a token (T2)', async () => {
    const guess = () => requestToken(server, { client_id: CLIENT_ID, client_secret: 'vks_guess' });
    const statuses = [];
    for (let tries = 0; tries < 10; tries++) statuses.push((await guess()).status);
    expect(statuses.filter((status) => status === 401)).to.have.length(3);
    expect(statuses.filter((status) => status === 429)).to.have.length(7);
    const limited = await guess();
    expect(limited.body.error).to.equal('temporarily_unavailable');
    expect(limited.headers['retry-after']).to.equal('1');
    expect((await server.call('GET', '/api/v1/tools?page_size=1')).status).to.equal(200);
  });

  it('does not count probes', async () => {
    for (let sent = 0; sent < 10; sent++) {
      const answer = await server.call('GET', '/healthz', { token: null });
      expect(answer.status).to.equal(200);
      expect(answer.headers).not.to.have.property('ratelimit');
    }
  });

  it('ignores forwarding headers of untrusted clients (S10)', async () => {
    const statuses = [];
    for (let tries = 0; tries < 5; tries++) {
      const headers = { 'x-forwarded-for': `203.0.113.${tries}`, forwarded: `for=203.0.113.${tries}` };
      statuses.push((await requestToken(server, { client_id: 'x', client_secret: 'y' }, headers)).status);
    }
    expect(statuses).to.deep.equal([401, 401, 401, 429, 429]);
  });
});
