import { expect } from 'chai';
import type { AttemptOutcome } from '../../../core/jobs/job-kind.ts';
import type { Transaction } from '../../../db/store.ts';
import { type JobWorld, kindOf, SECOND, startJobWorld } from './support.ts';

describe('a job that is retried', () => {
  let world: JobWorld;
  let outcome: AttemptOutcome;
  let engine: Awaited<ReturnType<JobWorld['engine']>>;
  let id: string;

  beforeEach(async () => {
    world = await startJobWorld();
    outcome = { kind: 'failed', reason: 'Refused.' };
    engine = await world.engine({ kinds: [kindOf(async () => outcome)] });
    id = await world.add('a');
    await engine.runDue();
    world.clock.advance(5000 * SECOND);
  });
  afterEach(async () => {
    await engine.stop();
    await world.end();
  });

  /** Retries the job. @returns the job, and the number of effects that run after the commit */
  async function retry(kind = 'post') {
    let effects = 0;
    const { store, env: environmentId } = world.test;
    const job = await store.write((tx) => {
      // Reset here, because the test store runs each unit of work twice.
      effects = 0;
      const afterCommit = (effect: () => void) => {
        effects++;
        tx.afterCommit(effect);
      };
      const counting = Object.assign(Object.create(tx), { afterCommit }) as Transaction;
      return engine.retry(counting, { id, environmentId, kind });
    });
    return { job, effects };
  }

  it('has as much time as a new one, and wakes the job engine after the commit', async () => {
    expect(await world.get(id)).to.include({ state: 'FAILED', attempts: 1 });
    const { job, effects } = await retry();
    const at = world.clock.now();
    expect(job).to.include({ state: 'WAITING', attempts: 0, runAt: at, giveUpAt: at + 1000 * SECOND });
    expect(effects).to.equal(1);
    outcome = { kind: 'done' };
    await engine.runDue();
    expect(await world.get(id)).to.include({ state: 'DONE', attempts: 1, reason: null });
  });

  it('is attempted again after a failure until its new deadline', async () => {
    await retry();
    outcome = { kind: 'retry', reason: 'Not now.' };
    await engine.runDue();
    expect(await world.get(id)).to.include({ state: 'WAITING', attempts: 1, reason: 'Not now.' });
    world.clock.advance(1000 * SECOND);
    await engine.runDue();
    expect(await world.get(id)).to.include({ state: 'FAILED', reason: 'Given up. Not now.' });
  });

  it('does not change if it has not failed, or if its kind is unknown', async () => {
    expect(await retry('unknown')).to.deep.equal({ job: undefined, effects: 0 });
    expect(await world.get(id)).to.include({ state: 'FAILED', attempts: 1 });
    await retry();
    expect(await retry()).to.deep.equal({ job: undefined, effects: 0 });
  });
});
