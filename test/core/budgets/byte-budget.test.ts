import { expect } from 'chai';
import { ByteBudget } from '../../../core/budgets/byte-budget.ts';

const LIMITS = { totalBytes: 1_200, waitMs: 60_000, waiting: 2 };

describe('M3: the memory budget for bodies', () => {
  it('gives one environment half of the total, and takes nothing if the space is too small', () => {
    const budget = new ByteBudget(LIMITS);
    const hold = budget.of('a').hold();
    expect(hold.grow(600)).to.equal(true);
    expect(hold.grow(1)).to.equal(false);
    expect([hold.bytes, budget.of('a').used, budget.used]).to.deep.equal([600, 600, 600]);
  });

  it('leaves space for another environment, even if many use as much as they can', () => {
    const budget = new ByteBudget(LIMITS);
    for (let count = 0; count < 5; count++) {
      const hold = budget.of(`greedy ${count}`).hold();
      while (hold.grow(1));
    }
    expect(budget.used).to.be.below(1_200);
    expect(budget.of('modest').hold().grow(9)).to.equal(true);
  });

  it('adds up the bytes that the work of one party holds', () => {
    const budget = new ByteBudget(LIMITS);
    const [one, two] = [budget.of('a').hold(), budget.of('a').hold()];
    expect([one.grow(400), two.grow(200), two.grow(1), one.grow(1)]).to.deep.equal([true, true, false, false]);
    one.release();
    expect([budget.used, two.grow(400)]).to.deep.equal([200, true]);
  });

  it('returns released bytes once', () => {
    const budget = new ByteBudget(LIMITS);
    const hold = budget.of('a').hold();
    hold.grow(100);
    hold.release();
    hold.release();
    expect([hold.bytes, budget.used, budget.of('a').used]).to.deep.equal([0, 0, 0]);
    expect(hold.grow(100)).to.equal(true);
    expect(budget.used).to.equal(100);
  });

  it('reserves space for the first bytes of a request when growing requests get none', async () => {
    const budget = new ByteBudget(LIMITS);
    const [large, small] = [budget.of('a').hold(), budget.of('a').hold()];
    expect(large.grow(600)).to.equal(true);
    expect([small.grow(1), await small.reserve(200)]).to.deep.equal([false, true]);
    expect(budget.used).to.equal(800);
  });

  it('lets first bytes wait, and admits them as soon as there is space', async () => {
    const budget = new ByteBudget(LIMITS);
    const [large, small] = [budget.of('a').hold(), budget.of('a').hold()];
    await large.reserve(800);
    const waiting = small.reserve(10);
    expect(budget.waiting).to.equal(1);
    large.release();
    expect(await waiting).to.equal(true);
    expect([budget.waiting, budget.used, small.bytes]).to.deep.equal([0, 10, 10]);
  });

  it('admits a small request before a large one that does not fit', async () => {
    const budget = new ByteBudget(LIMITS);
    const holds = [1, 2, 3, 4].map(() => budget.of('a').hold());
    const [first, second, large, small] = holds as [
      (typeof holds)[0],
      (typeof holds)[0],
      (typeof holds)[0],
      (typeof holds)[0],
    ];
    await first.reserve(790);
    await second.reserve(10);
    const [needsMuch, needsLittle] = [large.reserve(500), small.reserve(5)];
    second.release();
    expect(await needsLittle).to.equal(true);
    expect([large.bytes, budget.waiting]).to.deep.equal([0, 1]);
    first.release();
    expect(await needsMuch).to.equal(true);
  });

  it('rejects requests that find no space in time, or if too many are waiting', async () => {
    const budget = new ByteBudget({ ...LIMITS, waitMs: 1 });
    await budget.of('a').hold().reserve(800);
    const refused = await Promise.all([1, 2, 3].map(() => budget.of('a').hold().reserve(1)));
    expect(refused).to.deep.equal([false, false, false]);
    expect([budget.waiting, budget.used]).to.deep.equal([0, 800]);
  });

  it('ends a wait when the caller stops', async () => {
    const budget = new ByteBudget(LIMITS);
    await budget.of('a').hold().reserve(800);
    const caller = new AbortController();
    const waiting = budget.of('a').hold().reserve(1, caller.signal);
    caller.abort(new Error('stopped'));
    expect(await waiting.catch((error: Error) => error.message)).to.equal('stopped');
    expect([budget.waiting, budget.used]).to.deep.equal([0, 800]);
  });
});
