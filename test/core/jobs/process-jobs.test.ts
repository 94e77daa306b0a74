import { expect } from 'chai';
import { createProcessJobs } from '../../../core/jobs/process-jobs.ts';
import type { TimerOptions } from '../../../core/scheduling/timers.ts';
import { StorageError } from '../../../db/store.ts';

interface World {
  timer: TimerOptions;
  work: (signal: AbortSignal) => unknown;
  lines: string[];
  counts: [name: string, outcome: string, seconds: number][];
}

/** Starts a job that runs only when the test calls `work`. */
function start(run: (signal: AbortSignal) => unknown): World {
  const world: Partial<World> & Pick<World, 'lines' | 'counts'> = { lines: [], counts: [] };
  const line = (level: string) => (fields: object, message: string) =>
    void world.lines.push(`${level} ${(fields as { job: string }).job}: ${message}`);
  const startProcessJob = createProcessJobs({
    startTimer(work, options) {
      Object.assign(world, { work, timer: options });
      return { soon: () => {}, stop: async () => {} };
    },
    log: { warn: line('warn'), error: line('error') },
    counted: (...count) => void world.counts.push(count),
  });
  startProcessJob({ name: 'sweep', everyMs: 7_000, run, failure: 'nothing was swept' });
  return world as World;
}

describe('a job of this process', () => {
  const { signal } = new AbortController();

  it('runs at its interval, receives the signal of the stop, and is counted with its duration', async () => {
    const received: unknown[] = [];
    const { timer, work, counts, lines } = start((given) => void received.push(given));
    expect(timer.everyMs).to.equal(7_000);
    await work(signal);
    expect(received).to.deep.equal([signal]);
    const [[name, outcome, seconds] = []] = counts;
    expect([name, outcome, lines]).to.deep.equal(['sweep', 'done', []]);
    expect(seconds).to.be.within(0, 60);
  });

  for (const [title, error, level] of [
    ['an error', new Error('broken'), 'error'],
    ['a failure of the storage, which is a warning,', new StorageError('UNAVAILABLE', 'no database'), 'warn'],
  ] as const) {
    it(`is counted as failed after ${title} and logged with its name`, async () => {
      const { timer, work, counts, lines } = start(() => {
        throw error;
      });
      const thrown = await Promise.resolve(work(signal)).catch((caught: unknown) => caught);
      expect(thrown).to.equal(error);
      timer.failed(thrown);
      expect(counts.map(([name, outcome]) => [name, outcome])).to.deep.equal([['sweep', 'failed']]);
      expect(lines).to.deep.equal([`${level} sweep: nothing was swept`]);
    });
  }
});
