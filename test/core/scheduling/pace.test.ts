import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createPace } from '../../../core/scheduling/pace.ts';

const { signal } = new AbortController();

/** Lets callers start one after the other. @returns the sum of the waits, in milliseconds, before each start */
async function startsAt(perSecond: number | null, callers: number, aborted = signal): Promise<number[]> {
  let elapsed = 0;
  const pace = createPace(perSecond, async (ms) => {
    await turn();
    elapsed += ms;
  });
  const starts: number[] = [];
  await Promise.all(Array.from({ length: callers }, () => pace(aborted).then(() => starts.push(elapsed))));
  return starts;
}

describe('Pace', () => {
  it('starts the first caller immediately, and the others at the configured rate', async () => {
    expect(await startsAt(200, 5)).to.deep.equal([0, 5, 10, 15, 20]);
  });

  it('keeps the rate when it is not a whole number of milliseconds', async () => {
    expect((await startsAt(300, 301)).at(-1)).to.be.within(999, 1000);
    expect((await startsAt(4000, 4001)).at(-1)).to.be.within(999, 1000);
  });

  it('does not wait without a limit', async () => {
    expect(await startsAt(null, 3)).to.deep.equal([0, 0, 0]);
  });

  it('does not wait when the server stops', async () => {
    expect(await startsAt(1, 3, AbortSignal.abort())).to.deep.equal([0, 0, 0]);
  });

  it('starts callers in order, one at a time', async () => {
    const resume: (() => void)[] = [];
    const pace = createPace(1000, () => new Promise((resolve) => resume.push(resolve)));
    const started: number[] = [];
    const all = [1, 2, 3].map((caller) => pace(signal).then(() => started.push(caller)));
    await all[0];
    expect(started).to.deep.equal([1]);
    resume.shift()?.();
    await all[1];
    expect(started).to.deep.equal([1, 2]);
    resume.shift()?.();
    await all[2];
  });
});
