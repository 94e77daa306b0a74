import { expect } from 'chai';
import { wrap } from '../../wiring/overrides.ts';
import { type HeldPool, heldPool } from '../support/held-pool.ts';
import { addSecondEnvironment, type SecondEnvironment } from '../support/second-environment.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

const MIB = 1024 * 1024;
const LIMITS = { threads: 1, heapBytes: MIB, idleMs: 1000, places: 2, waiting: 2, tenantBytes: MIB, bytes: 2 * MIB };
const PATH = '/api/v1/tools:import';

describe('M4: concurrent imports', () => {
  let server: TestServer;
  let pool: HeldPool;
  let other: SecondEnvironment;

  before(async () => {
    pool = heldPool(LIMITS);
    server = await startTestServer({ overrides: { threads: wrap((threads) => ({ ...threads, imports: pool })) } });
    other = await addSecondEnvironment(server);
  });
  after(() => server.stop());

  it('are limited to two for an environment, and leave slots to other environments', async () => {
    const body = { connector: 'acme', files: [{ name: 'a.json', content: '{"openapi": "3.1.0"}' }] };
    const mine = Array.from({ length: 3 }, () => server.call('POST', PATH, { body }));
    // Two imports have a slot and are held, so the first response is that of the third.
    const refused = await Promise.race(mine);
    expect(refused.status, refused.text).to.equal(429);
    expect(refused.body).to.include({ code: 'RATE_LIMITED' });
    expect(refused.headers['retry-after']).to.equal('1');

    const theirs = other.call('POST', PATH, { body });
    const first = await Promise.race([theirs, endedWithin(20)]);
    expect(first, 'the other environment waits for its turn').to.equal(undefined);
    const answers = await endUntil(Promise.all([...mine, theirs]));
    expect(answers.filter(({ status }) => status === 429)).to.have.length(1);
    for (const answer of answers.filter((each) => each !== refused)) {
      expect(answer.status, 'an import that is ended by its limit').to.equal(400);
      expect(answer.body).to.include({ code: 'INVALID_DOCUMENT' });
      expect(answer.body.errors[0].message).to.include('take more time or memory than an import is allowed');
    }
  });

  it('are limited for all environments together', async () => {
    const large = 'x'.repeat(MIB + 1);
    const body = { connector: 'acme', files: [{ name: 'a.json', content: large }] };
    const running = server.call('POST', PATH, { body });
    await pool.running(1);
    const refused = await other.call('POST', PATH, { body });
    expect(refused.status, refused.text).to.equal(503);
    expect(refused.body).to.include({ code: 'SERVER_BUSY' });
    expect(refused.headers['retry-after']).to.equal('1');
    await endUntil(running);
  });

  /** Ends the running work, one turn after the other, until all responses have arrived. */
  async function endUntil<T>(answers: Promise<T>): Promise<T> {
    let done = false;
    const settled = answers.finally(() => {
      done = true;
    });
    while (!done) {
      pool.endAll();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return settled;
  }
});

/** Resolves after this many turns of the event loop. */
async function endedWithin(turns: number): Promise<undefined> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
  return undefined;
}
