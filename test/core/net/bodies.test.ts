import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ByteBudget, type ByteBudgetLimits } from '../../../core/budgets/byte-budget.ts';
import { BODIES } from '../../../core/budgets.ts';
import { closeAll, egressTo, eventually, failureOf, get, type Local, serve, serveRaw } from './local.ts';

const KB = 1024;
const MB = 1024 * KB;
const HEAD = 'HTTP/1.1 200 OK\r\n';
const FIRST = BODIES.firstBytes;

const budgetOf = (totalBytes: number, more: Partial<ByteBudgetLimits> = {}) =>
  new ByteBudget({ totalBytes, waitMs: 1, waiting: 10, ...more });

/** Records the largest number of bytes that was held at one time. */
class WatchedBudget extends ByteBudget {
  most = 0;

  override take(...args: Parameters<ByteBudget['take']>): boolean {
    const taken = super.take(...args);
    this.most = Math.max(this.most, this.used);
    return taken;
  }
}

describe('M3: the memory of bodies of calls (E4)', () => {
  afterEach(closeAll);

  /** A server that sends this much of a body and then pauses until it may continue. */
  async function stalling(bytes: number): Promise<{ local: Local; letGo: () => void }> {
    const ends: (() => void)[] = [];
    const local = await serve((_request, response) => {
      response.write(Buffer.alloc(bytes, 'a'));
      ends.push(() => response.end());
    });
    const letGo = () => {
      for (const end of ends.splice(0)) end();
    };
    return { local, letGo };
  }

  it('never exceeds the limit, regardless of the number of stalled calls', async () => {
    const { local } = await stalling(1 * MB);
    const budget = new WatchedBudget({ totalBytes: 8 * MB, waitMs: 1, waiting: 10 });
    const egress = egressTo(local, { bodies: budget.of('one'), limits: { callsPerOrigin: 500, idleTimeoutMs: 500 } });
    const calls = Array.from({ length: 120 }, () => failureOf(egress.send(get(local.origin))));
    const kinds = (await Promise.all(calls)).map(({ kind, sent }) => `${kind} ${sent}`);
    expect(budget.most).to.be.within(3 * MB, 5.34 * MB);
    expect(new Set(kinds)).to.include('busy true').and.to.include('timeout true');
    expect(budget.used).to.equal(0);
  });

  it('has space for the calls of another environment', async () => {
    const { local, letGo } = await stalling(1 * MB);
    const budget = budgetOf(8 * MB);
    const [greedy, other] = ['one', 'other'].map((name) => egressTo(local, { bodies: budget.of(name) }));
    const calls = Array.from({ length: 8 }, () => greedy?.send(get(local.origin)).catch((error) => error));
    await eventually(() => local.requests.length === 8 && budget.of('one').used > 2 * MB);
    const well = other?.send(get(local.origin));
    await eventually(() => local.requests.length === 9 && budget.of('other').used > MB);
    letGo();
    expect((await well)?.body).to.have.length(MB);
    await Promise.all(calls);
    expect(budget.used).to.equal(0);
  });

  it('includes the inflated size of a body', async () => {
    const bomb = gzipSync(Buffer.alloc(1 * MB));
    const local = await serve((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb));
    const egress = egressTo(local, { bodies: budgetOf(1 * MB).of('one') });
    expect(await failureOf(egress.send(get(local.origin)))).to.include({ kind: 'busy', sent: true });
    const budget = budgetOf(4 * MB);
    const enough = egressTo(local, { bodies: budget.of('one') });
    expect((await enough.send(get(local.origin))).body).to.have.length(MB);
    expect(budget.used).to.equal(0);
  });

  it('is reserved for a short response before the call is sent, or nothing is sent', async () => {
    const local = await serve((_request, response) => response.end('short'));
    const budget = budgetOf(3 * FIRST);
    const large = budget.of('one').hold();
    await large.reserve(2 * FIRST);
    const egress = egressTo(local, { bodies: budget.of('one') });
    for (const call of [() => egress.send(get(local.origin)), () => egress.protocol(local.origin)]) {
      const refused = await failureOf(call() as Promise<unknown>);
      expect(refused).to.include({ kind: 'busy', sent: false, retryAfterMs: 1_000 });
    }
    expect(local.requests).to.have.length(0);
    large.release();
    expect((await egress.send(get(local.origin))).body.toString()).to.equal('short');
    expect((await egress.protocol(local.origin)).body).to.equal('short');
    expect(budget.used).to.equal(0);
  });

  it('is waited for, within the time limit of the call', async () => {
    const local = await serve((_request, response) => response.end('short'));
    const budget = budgetOf(3 * FIRST, { waitMs: 60_000 });
    const large = budget.of('one').hold();
    await large.reserve(2 * FIRST);
    const egress = egressTo(local, { bodies: budget.of('one') });
    const [late, waiting] = [egress.send(get(local.origin, { timeoutMs: 20 })), egress.send(get(local.origin))];
    expect(await failureOf(late)).to.include({ kind: 'timeout', sent: false });
    expect(budget.waiting).to.equal(1);
    large.release();
    expect((await waiting).status).to.equal(200);
  });

  it('includes a request body before it waits in the queue of its host', async () => {
    const { local, letGo } = await stalling(1);
    const budget = budgetOf(10 * MB);
    const egress = egressTo(local, { bodies: budget.of('one'), limits: { callsPerOrigin: 1 } });
    const post = { method: 'POST', body: Buffer.alloc(MB) };
    const calls = [1, 2, 3].map(() => egress.send(get(local.origin, post)));
    await eventually(() => local.requests.length === 1);
    expect(budget.used).to.equal(3 * MB + FIRST);
    for (const at of [1, 2, 3]) {
      await eventually(() => local.requests.length === at);
      letGo();
    }
    await Promise.all(calls);
    expect(budget.used).to.equal(0);
  });

  it('is held as long as the caller says', async () => {
    const local = await serve((_request, response) => response.end(Buffer.alloc(MB)));
    const budget = budgetOf(10 * MB);
    const egress = egressTo(local, { bodies: budget.of('one') });
    const hold = egress.hold();
    await egress.send(get(local.origin, { hold }));
    expect(budget.used).to.be.at.least(MB);
    hold.release();
    expect(budget.used).to.equal(0);
  });

  it('allows a larger response of a token endpoint only if there is space', async () => {
    const local = await serve((_request, response) => response.end(Buffer.alloc(4 * FIRST)));
    const [little, enough] = [budgetOf(6 * FIRST), budgetOf(9 * FIRST)];
    const refused = await failureOf(egressTo(local, { bodies: little.of('one') }).fetchLike(local.origin));
    expect(refused).to.include({ kind: 'busy', sent: true });
    const answer = await egressTo(local, { bodies: enough.of('one') }).fetchLike(local.origin);
    expect((await answer.bytes()).length).to.equal(4 * FIRST);
    expect([little.used, enough.used]).to.deep.equal([0, 0]);
  });

  for (const [what, bytes] of [
    ['is cut off', `${HEAD}content-length: 100000\r\n\r\nabc`],
    ['is no HTTP', 'SSH-2.0\r\n'],
    ['is too large', `${HEAD}content-length: 99999999999\r\n\r\n`],
    ['cannot be inflated', `${HEAD}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`],
  ] as const) {
    it(`is released after a response that ${what}`, async () => {
      const local = await serveRaw((socket) => socket.once('data', () => socket.end(bytes)));
      const budget = budgetOf(10 * MB);
      const egress = egressTo(local, { bodies: budget.of('one') });
      await failureOf(egress.send(get(local.origin)));
      await failureOf(egress.fetchLike(local.origin));
      expect(budget.used).to.equal(0);
    });
  }
});
