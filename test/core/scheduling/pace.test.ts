import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createPace } from '../../../core/scheduling/pace.ts';

const { signal } = new AbortController();

interface World {
  aborted?: AbortSignal;
  /** The part of the time in which the event loop is busy. */
  busy?: number;
}

/** Lets callers start one after the other. @returns the sum of the waits, in milliseconds, before each start */
async function startsAt(perSecond: number | null, callers: number, world: World = {}): Promise<number[]> {
  const { aborted = signal, busy = 0 } = world;
  let elapsed = 0;
  const wait = async (ms: number) => {
    await turn();
    elapsed += ms;
  };
  const pace = createPace(perSecond, { wait, utilization: () => busy });
  const starts: number[] = [];
  await Promise.all(Array.from({ length: callers }, () => pace(aborted).then(() => starts.push(elapsed))));
  return starts;
}

describe('Pace', () => {
  it('starts the callers of 20 milliseconds together, the first ones immediately', async () => {
    expect(await startsAt(200, 9)).to.deep.equal([0, 0, 0, 0, 20, 20, 20, 20, 40]);
    expect(await startsAt(10, 3)).to.deep.equal([0, 100, 200]);
  });

  it('keeps the rate when it is not a whole number of milliseconds', async () => {
    expect((await startsAt(300, 301)).at(-1)).to.be.within(999, 1000);
    expect((await startsAt(4000, 4001)).at(-1)).to.be.within(999, 1000);
  });

  it('lowers the rate while the event loop is busy, down to a quarter', async () => {
    expect((await startsAt(200, 201, { busy: 0.5 })).at(-1)).to.equal(2000);
    expect((await startsAt(200, 201, { busy: 1 })).at(-1)).to.equal(4000);
  });

  it('does not wait without a limit', async () => {
    expect(await startsAt(null, 3)).to.deep.equal([0, 0, 0]);
  });

  it('does not wait when the server stops', async () => {
    expect(await startsAt(1, 3, { aborted: AbortSignal.abort() })).to.deep.equal([0, 0, 0]);
  });

  it('handles other events between two callers that start together', async () => {
    const pace = createPace(200, { wait: () => new Promise(() => {}), utilization: () => 0 });
    const seen: string[] = [];
    const all = [1, 2, 3].map((caller) => pace(signal).then(() => seen.push(`caller ${caller}`)));
    void all[0]?.then(() => setImmediate(() => seen.push('event')));
    await Promise.all(all);
    expect(seen.indexOf('event')).to.be.below(seen.indexOf('caller 3'));
  });

  it('starts callers in order, one at a time', async () => {
    const resume: (() => void)[] = [];
    const wait = () => new Promise<void>((resolve) => resume.push(resolve));
    const pace = createPace(10, { wait, utilization: () => 0 });
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
