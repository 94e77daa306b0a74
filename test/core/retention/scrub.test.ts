import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createProcessJobs } from '../../../core/jobs/process-jobs.ts';
import { createScrub } from '../../../core/retention/scrub.ts';
import { startTimer } from '../../../core/scheduling/timers.ts';

/**
 * A scrub of a store whose attempts have the results that the test sets; each attempt takes 100 ms of the test's clock.
 * Timers are real and short.
 */
function setUp(times = { delayMs: 0, retryMs: 0, lastMs: 3 }) {
  const outcomes: (boolean | Error)[] = [];
  const lines: string[] = [];
  let attempts = 0;
  let clock = 1_000;
  const store = {
    scrub: async () => {
      attempts++;
      clock += 100;
      const outcome = outcomes.shift() ?? true;
      if (outcome instanceof Error) throw outcome;
      return outcome;
    },
  };
  const say = (_fields: unknown, text?: string) => void lines.push(text ?? String(_fields));
  const log = { info: say, warn: say, error: say } as never;
  const wait = async () => void (await turn());
  const startProcessJob = createProcessJobs({ startTimer, log, counted: () => {} });
  const scrub = createScrub({ store, now: () => clock, wait, startProcessJob, log }, times);
  const until = async (condition: () => boolean) => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { scrub, outcomes, lines, until, attempts: () => attempts };
}

describe('scrubbing deleted data from the files (F1, F3)', () => {
  it('covers many deletions with one attempt', async () => {
    const { scrub, until, attempts } = setUp();
    for (let i = 0; i < 10; i++) scrub.request();
    await until(() => attempts() > 0);
    await scrub.stop();
    expect(attempts()).to.equal(1);
  });

  it('is retried until no other process blocks it, and logs the block once', async () => {
    const { scrub, outcomes, lines, until, attempts } = setUp();
    outcomes.push(false, false, false, true);
    scrub.request();
    await until(() => attempts() === 4);
    expect(scrub.pendingMs()).to.equal(0);
    expect(lines).to.deep.equal([
      'deleted data is still in the database files',
      'deleted data was removed from the database files',
    ]);
    await scrub.stop();
    expect(attempts()).to.equal(4);
  });

  it('reports how long the oldest deletion has been waiting', async () => {
    const { scrub, outcomes, until, attempts } = setUp();
    expect(scrub.pendingMs()).to.equal(0);
    outcomes.push(...Array(1_000).fill(false));
    scrub.request();
    await until(() => attempts() >= 3);
    expect(scrub.pendingMs()).to.be.at.least(300);
    outcomes.length = 0;
    await until(() => scrub.pendingMs() === 0);
    await scrub.stop();
  });

  it('tolerates a failing disk, and continues when it works again', async () => {
    const { scrub, outcomes, lines, until, attempts } = setUp();
    outcomes.push(new Error('SQLITE_FULL'), new Error('SQLITE_FULL'), true);
    scrub.request();
    await until(() => attempts() === 3);
    await scrub.stop();
    expect(lines).to.deep.equal([
      'deleted data is still in the database files',
      'deleted data was removed from the database files',
    ]);
  });

  it('gives up after a bounded number of attempts when the server stops', async () => {
    const { scrub, outcomes, attempts } = setUp({ delayMs: 60_000, retryMs: 1, lastMs: 3 });
    outcomes.push(...Array(1_000).fill(false));
    scrub.request();
    await scrub.stop();
    expect(attempts()).to.equal(4);
    expect(scrub.pendingMs()).to.be.greaterThan(0);
  });
});
