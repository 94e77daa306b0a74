import { expect } from 'chai';
import { RefreshSlots } from '../../../core/accounts/refresh-slots.ts';
import { gate } from './refresh-support.ts';

/** Tasks that run until they are let go, and what can be seen of them. */
function crowd(slots: RefreshSlots) {
  const started: string[] = [];
  const gates = new Map<string, ReturnType<typeof gate>>();
  const results: Promise<unknown>[] = [];
  return {
    started,
    add(key: string, name: string) {
      const held = gate();
      gates.set(name, held);
      results.push(
        slots.run(key, async () => {
          started.push(name);
          await held.opened;
        }),
      );
    },
    async finish(name: string) {
      gates.get(name)?.open();
      await new Promise((resolve) => setImmediate(resolve));
    },
    all: () => Promise.all(results),
  };
}

describe('places for refreshes (R8)', () => {
  it('are as many as there are, in all and for one provider', async () => {
    const tasks = crowd(new RefreshSlots(3, 2));
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) tasks.add(name[0] ?? '', name);
    expect(tasks.started).to.deep.equal(['a1', 'a2', 'b1']);
    await tasks.finish('a1');
    expect(tasks.started).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
  });

  it('are given in order within a provider, and by turns between providers', async () => {
    const tasks = crowd(new RefreshSlots(1, 1));
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) tasks.add(name[0] ?? '', name);
    for (const name of ['a1', 'a2', 'b1', 'a3', 'b2']) await tasks.finish(name);
    expect(tasks.started).to.deep.equal(['a1', 'a2', 'b1', 'a3', 'b2']);
    await tasks.all();
  });

  it('are free again after a task that failed', async () => {
    const slots = new RefreshSlots(1, 1);
    const failed = await slots.run('a', () => Promise.reject(new Error('no'))).catch((error: Error) => error.message);
    expect(failed).to.equal('no');
    expect(slots.isFree('a')).to.equal(true);
    expect(await slots.run('a', async () => 'yes')).to.equal('yes');
  });

  it('leave a provider its own while another one is slow', async () => {
    const tasks = crowd(new RefreshSlots(4, 2));
    for (let n = 0; n < 100; n++) tasks.add('slow', `slow${n}`);
    tasks.add('quick', 'quick');
    expect(tasks.started).to.deep.equal(['slow0', 'slow1', 'quick']);
  });

  it('come to everyone of ten thousand, never more than there are', async () => {
    const slots = new RefreshSlots(32, 8);
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
});
