import { expect } from 'chai';
import type { LoadVerdict } from '../../../core/accounts/refresh-pace.ts';
import { RefreshSlots, type SlotLimits, SlotsBusyError } from '../../../core/accounts/refresh-slots.ts';
import { gate } from './refresh-support.ts';

const UNBOUNDED = Number.POSITIVE_INFINITY;
const slotsOf = (total: number, first: number, more: Partial<SlotLimits> = {}) =>
  new RefreshSlots({ total, first, most: first, waiting: UNBOUNDED, waitMs: UNBOUNDED, ...more });

/** Starts tasks that run until they are released, and records them. */
function crowd(slots: RefreshSlots) {
  const started: string[] = [];
  const gates = new Map<string, ReturnType<typeof gate>>();
  const results: Promise<unknown>[] = [];
  return {
    started,
    add(key: string, name: string) {
      const held = gate();
      gates.set(name, held);
      const result = slots.run(key, async () => {
        started.push(name);
        await held.opened;
      });
      results.push(result.catch(() => {}));
      return result;
    },
    async finish(name: string) {
      gates.get(name)?.open();
      await new Promise((resolve) => setImmediate(resolve));
    },
    all: () => Promise.all(results),
  };
}

describe('slots for refreshes (R8)', () => {
  it('are limited in total and for each provider', async () => {
    const tasks = crowd(slotsOf(4, 2));
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) tasks.add(name[0] ?? '', name);
    expect(tasks.started).to.deep.equal(['a1', 'a2', 'b1']);
    await tasks.finish('a1');
    expect(tasks.started).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
  });

  it('are assigned in order within a provider, and in turns between providers', async () => {
    const tasks = crowd(slotsOf(1, 1));
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) tasks.add(name[0] ?? '', name);
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await tasks.finish(name);
    expect(tasks.started).to.deep.equal(['a1', 'a2', 'b1', 'a3', 'b2']);
    await tasks.all();
  });

  it('are released after a task that failed', async () => {
    const slots = slotsOf(1, 1);
    const failed = await slots.run('a', () => Promise.reject(new Error('no'))).catch((error: Error) => error.message);
    expect(failed).to.equal('no');
    expect(slots.isFree('a')).to.equal(true);
    expect(await slots.run('a', async () => 'yes')).to.equal('yes');
  });

  it('are reserved for a provider while another one is slow', async () => {
    const tasks = crowd(slotsOf(4, 2));
    for (let n = 0; n < 100; n++) tasks.add('slow', `slow${n}`);
    tasks.add('quick', 'quick');
    expect(tasks.started).to.deep.equal(['slow0', 'slow1', 'quick']);
  });

  it('F10: remain available for another provider, regardless of the number of slow providers', () => {
    const tasks = crowd(slotsOf(64, 32));
    for (let provider = 0; provider < 5; provider++) {
      for (let n = 0; n < 100; n++) tasks.add(`slow ${provider}`, `slow ${provider} ${n}`);
    }
    const taken = tasks.started.length;
    expect(taken).to.be.below(64);
    tasks.add('quick', 'quick');
    expect(tasks.started.slice(taken)).to.deep.equal(['quick']);
  });

  it('are given to each of ten thousand tasks, and the limit is never exceeded', async () => {
    const slots = slotsOf(32, 8);
    let active = 0;
    let most = 0;
    let done = 0;
    const task = async () => {
      most = Math.max(most, ++active);
      await Promise.resolve();
      active--;
      done++;
    };
    await Promise.all(Array.from({ length: 10_000 }, (_, n) => slots.run(`provider ${n % 7}`, task)));
    expect(done).to.equal(10_000);
    expect(most).to.be.within(8, 32);
    expect(slots.isFree('provider 0')).to.equal(true);
  });

  describe('F10: waiting for a slot', () => {
    it('is limited in time, and ends with the time after which to try again', async () => {
      let now = 0;
      const limits = { total: 2, first: 1, most: 1, waiting: 10, waitMs: 1 };
      const slots = new RefreshSlots(limits, () => now);
      await slots.run('a', async () => {
        now += 3_000;
      });
      const tasks = crowd(slots);
      tasks.add('a', 'a1');
      const late = await Promise.all(['a2', 'a3'].map((name) => tasks.add('a', name).catch((error) => error)));
      for (const error of late) expect(error).to.be.instanceOf(SlotsBusyError);
      expect(late[0].retryAfterMs).to.equal(6_000);
      await tasks.finish('a1');
      expect(tasks.started).to.deep.equal(['a1']);
      expect(slots.isFree('a')).to.equal(true);
    });

    it('is refused when too many are waiting', async () => {
      const tasks = crowd(slotsOf(2, 1, { waiting: 2 }));
      for (const name of ['a1', 'a2', 'a3']) tasks.add('a', name);
      const refused = await tasks.add('a', 'a4').catch((error) => error);
      expect(refused).to.be.instanceOf(SlotsBusyError);
      for (const name of ['a1', 'a2', 'a3']) await tasks.finish(name);
      expect(tasks.started).to.deep.equal(['a1', 'a2', 'a3']);
    });
  });

  describe('F10: slots of a provider', () => {
    const limits = { total: 64, first: 4, most: 16, waiting: UNBOUNDED, waitMs: UNBOUNDED };

    /**
     * A provider that serves a limited number of requests concurrently. Further requests wait in its queue or are
     * rejected.
     */
    function provider(capacity: number, beyond: 'queues' | 'limits') {
      let now = 0;
      const slots = new RefreshSlots(limits, () => now);
      let active = 0;
      let most = 0;
      let turnedAway = 0;
      const ask = async (): Promise<LoadVerdict> => {
        most = Math.max(most, ++active);
        const ms = beyond === 'queues' ? 100 * Math.ceil(active / capacity) : 100;
        const isOver = beyond === 'limits' && active > capacity;
        if (isOver) turnedAway++;
        // Waits until all requests of this round are running concurrently.
        await new Promise((resolve) => setImmediate(resolve));
        now += ms / limits.most;
        active--;
        return isOver ? 'strained' : 'well';
      };
      return {
        async serve(count: number) {
          most = 0;
          turnedAway = 0;
          await Promise.all(Array.from({ length: count }, () => slots.run('a', ask, (verdict) => verdict)));
          return { most, turnedAway };
        },
      };
    }

    it('increase while the provider accepts all requests', async () => {
      const { most } = await provider(1_000, 'limits').serve(200);
      expect(most).to.equal(16);
    });

    it('decrease when the provider limits requests, and increase again slowly', async () => {
      const limited = provider(6, 'limits');
      await limited.serve(200);
      const { most, turnedAway } = await limited.serve(200);
      expect(most).to.be.within(4, 8);
      expect(turnedAway).to.be.below(40);
    });

    it('decrease to one when the provider rejects all requests', async () => {
      const dead = provider(0, 'limits');
      await dead.serve(100);
      expect((await dead.serve(10)).most).to.equal(1);
    });

    it('are counted separately for each provider and environment', async () => {
      const slots = new RefreshSlots(limits);
      for (let count = 0; count < 10; count++)
        await slots.run(
          'strained',
          async () => {},
          () => 'strained',
        );
      const tasks = crowd(slots);
      for (let n = 0; n < 6; n++) {
        tasks.add('strained', `strained ${n}`);
        tasks.add('well', `well ${n}`);
      }
      expect(tasks.started.filter((name) => name.startsWith('strained'))).to.have.length(1);
      expect(tasks.started.filter((name) => name.startsWith('well'))).to.have.length(4);
    });
  });
});
