import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { startDeadline, startTimer, type Timer, withinLimit } from '../../../core/scheduling/timers.ts';

const NEVER = 2 ** 31 - 1;

/** Resolves when a condition that a timer changes becomes true. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe('timers', () => {
  let timer: Timer | undefined;
  let failures: unknown[];
  const failed = (error: unknown) => void failures.push(error);
  beforeEach(() => {
    failures = [];
  });
  afterEach(() => timer?.stop(0));

  it('run the work repeatedly, and never concurrently', async () => {
    let [runs, active, most] = [0, 0, 0];
    const work = async () => {
      most = Math.max(most, ++active);
      await new Promise((resolve) => setTimeout(resolve, 3));
      active--;
      runs++;
    };
    timer = startTimer(work, { everyMs: 1, failed });
    await until(() => runs >= 5);
    expect(most).to.equal(1);
  });

  it('without an interval run the work only on request, once for all concurrent requests', async () => {
    let runs = 0;
    timer = startTimer(() => runs++, { failed });
    for (let asked = 0; asked < 10; asked++) timer.soon(0);
    await until(() => runs > 0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(runs).to.equal(1);
    timer.soon(0);
    await until(() => runs === 2);
  });

  it('run the work once more when it is requested during a run', async () => {
    const runs: (() => void)[] = [];
    timer = startTimer(() => new Promise<void>((resolve) => runs.push(resolve)), { failed });
    timer.soon(0);
    await until(() => runs.length === 1);
    timer.soon(0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(runs).to.have.lengthOf(1);
    runs[0]?.();
    await until(() => runs.length === 2);
    runs[1]?.();
  });

  it('report work that throws or rejects, and continue', async () => {
    let runs = 0;
    const work = () => {
      if (++runs === 1) throw new Error('thrown');
      return runs === 2 ? Promise.reject(new Error('rejected')) : undefined;
    };
    timer = startTimer(work, { everyMs: 1, failed });
    await until(() => runs >= 4);
    expect(failures.map((error) => (error as Error).message)).to.deep.equal(['thrown', 'rejected']);
  });

  it('do not run after they were stopped', async () => {
    let runs = 0;
    timer = startTimer(() => runs++, { everyMs: 1, failed });
    timer.soon(0);
    await timer.stop();
    timer.soon(0);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(runs).to.equal(0);
  });

  it('notify the current run of a stop, and wait for it to end', async () => {
    let isTold = false;
    let hasEnded = false;
    const work = async (signal: AbortSignal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      isTold = true;
      for (let turns = 0; turns < 5; turns++) await turn();
      hasEnded = true;
    };
    let begun = false;
    timer = startTimer(
      (signal) => {
        begun = true;
        return work(signal);
      },
      { failed },
    );
    timer.soon(0);
    await until(() => begun);
    await timer.stop();
    expect([isTold, hasEnded]).to.deep.equal([true, true]);
  });

  it('wait no longer than the limit for a run that does not end', async () => {
    let begun = false;
    timer = startTimer(
      () => {
        begun = true;
        return new Promise(() => {});
      },
      { failed },
    );
    timer.soon(0);
    await until(() => begun);
    await timer.stop(1);
  });
});

describe('withinLimit', () => {
  it('reports whether work has ended, with a result or an error', async () => {
    expect(await withinLimit(Promise.resolve(), NEVER)).to.equal(true);
    expect(await withinLimit(Promise.reject(new Error('planted')), NEVER)).to.equal(true);
    expect(await withinLimit(Promise.reject(new Error('planted')))).to.equal(true);
    expect(await withinLimit(new Promise(() => {}), 1)).to.equal(false);
  });
});

describe('deadlines', () => {
  it('call the function once when they expire', async () => {
    let calls = 0;
    startDeadline(1, () => calls++);
    await until(() => calls > 0);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(calls).to.equal(1);
  });

  it('call nothing when they are cancelled earlier', async () => {
    let isCalled = false;
    startDeadline(0, () => {
      isCalled = true;
    })();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(isCalled).to.equal(false);
  });
});
