import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { PeriodicJob } from '../../../core/jobs/periodic.ts';
import { type JobWorld, SECOND, startJobWorld, startPass } from './support.ts';

describe('periodic jobs', () => {
  let world: JobWorld;
  let runs: number[];

  beforeEach(async () => {
    world = await startJobWorld();
    runs = [];
  });
  afterEach(() => world.end());

  const sweep = (over: Partial<PeriodicJob> = {}): PeriodicJob => ({
    name: 'sweep',
    everyMs: 100 * SECOND,
    firstMs: 5 * SECOND,
    run: async () => void runs.push(world.clock.now()),
    ...over,
  });

  it('run some time after the first start, and then repeatedly at varying intervals', async () => {
    const engine = await world.engine({ periodic: [sweep()] });
    await engine.runDue();
    expect(runs).to.deep.equal([]);
    for (let second = 0; second < 500; second++) {
      world.clock.advance(SECOND);
      await engine.runDue();
    }
    const pauses = runs.slice(1).map((at, index) => at - (runs[index] ?? 0));
    expect(pauses.length).to.be.within(4, 6);
    for (const pause of pauses) expect(pause).to.be.within(90 * SECOND, 101 * SECOND);
    expect(new Set(pauses).size).to.be.above(1);
    expect(world.counts).to.deep.equal(runs.map(() => 'sweep done'));
  });

  it('keep the time of their next run across restarts', async () => {
    await (await world.engine({ periodic: [sweep()] })).runDue();
    world.clock.advance(5 * SECOND);
    await (await world.engine({ periodic: [sweep({ firstMs: 0 })] })).runDue();
    expect(runs).to.have.lengthOf(1);
    for (let restart = 0; restart < 9; restart++) {
      world.clock.advance(9 * SECOND);
      await (await world.engine({ periodic: [sweep({ firstMs: 0 })] })).runDue();
    }
    expect(runs).to.have.lengthOf(1);
    world.clock.advance(20 * SECOND);
    const late = await world.engine({ periodic: [sweep()] });
    await late.runDue();
    expect(runs, 'not right at the start').to.have.lengthOf(1);
    world.clock.advance(5 * SECOND);
    await late.runDue();
    expect(runs).to.have.lengthOf(2);
  });

  it('run at one of several instances, and never overlap', async () => {
    let active = 0;
    let most = 0;
    const run = async () => {
      most = Math.max(most, ++active);
      for (let turns = 0; turns < 5; turns++) await turn();
      runs.push(world.clock.now());
      active--;
    };
    const engines = await Promise.all([1, 2, 3].map(() => world.engine({ periodic: [sweep({ run, everyMs: 1 })] })));
    world.clock.advance(5 * SECOND);
    for (let round = 0; round < 10; round++) {
      await Promise.all(engines.flatMap((engine) => [engine.runDue(), engine.runDue()]));
      world.clock.advance(SECOND);
    }
    expect(runs.length).to.be.at.least(10);
    expect(most).to.equal(1);
  });

  it('are run by another instance when the one that ran them has ended', async () => {
    const never = sweep({ run: () => new Promise(() => {}) });
    const [lost, other] = [await world.engine({ periodic: [never] }), await world.engine({ periodic: [sweep()] })];
    world.clock.advance(5 * SECOND);
    startPass(lost);
    while ((await world.test.store.read.periodicJobs.list())[0]?.holder !== lost.owner) await turn();
    world.clock.advance(200 * SECOND);
    await other.runDue();
    expect(runs).to.deep.equal([]);
    await world.test.store.write((tx) => tx.instances.remove(lost.owner));
    await other.runDue();
    expect(runs).to.have.lengthOf(1);
  });

  it('are logged and counted when they throw, run again at their next time, and do not delay others', async () => {
    const broken = sweep({
      name: 'broken',
      run: () => {
        throw new Error('planted');
      },
    });
    const engine = await world.engine({ periodic: [broken, sweep()] });
    world.clock.advance(5 * SECOND);
    await engine.runDue();
    expect(runs).to.have.lengthOf(1);
    expect(world.lines.map(({ job, text }) => [job, text])).to.deep.equal([['broken', 'a periodic job failed']]);
    world.clock.advance(100 * SECOND);
    await engine.runDue();
    expect(world.counts).to.have.members(['broken failed', 'sweep done', 'broken failed', 'sweep done']);
  });

  it('run soon when requested, regardless of their next time', async () => {
    const engine = await world.engine({ periodic: [sweep()] });
    engine.soon('sweep');
    await engine.runDue();
    engine.soon('sweep');
    await engine.runDue();
    expect(runs).to.have.lengthOf(2);
  });

  it('run once more when another instance requests them during a run', async () => {
    let letGo = () => {};
    let begun = 0;
    const run = async () => {
      if (++begun === 1) await new Promise<void>((resolve) => (letGo = resolve));
    };
    const busy = await world.engine({ periodic: [sweep({ run })] });
    const asking = await world.engine({ periodic: [sweep()] });
    world.clock.advance(5 * SECOND);
    const running = busy.runDue();
    while (begun === 0) await turn();
    asking.soon('sweep');
    await asking.runDue();
    expect([begun, runs.length]).to.deep.equal([1, 0]);
    letGo();
    await running;
    await asking.runDue();
    expect(begun + runs.length).to.equal(2);
  });

  it('are notified of a stop, and none begins afterwards', async () => {
    const run = (signal: AbortSignal) => {
      runs.push(world.clock.now());
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    };
    const engine = await world.engine({ periodic: [sweep({ run })] });
    world.clock.advance(5 * SECOND);
    const running = engine.runDue();
    while (runs.length === 0) await turn();
    await engine.stop();
    await running;
    expect(world.counts).to.deep.equal(['sweep done']);
    world.clock.advance(500 * SECOND);
    engine.soon('sweep');
    await engine.runDue();
    expect(world.counts).to.have.lengthOf(1);
  });
});
