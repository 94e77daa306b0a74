import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { AttemptOutcome, Job } from '../../../core/jobs/job-kind.ts';
import { RelationError, StorageError, type Transaction } from '../../../db/store.ts';
import { job } from '../../db/support.ts';
import { isOnServer } from '../../support/test-engine.ts';
import { type JobWorld, kindOf, SECOND, startJobWorld, startPass } from './support.ts';

const DONE: AttemptOutcome = { kind: 'done' };
const LATER: AttemptOutcome = { kind: 'retry', reason: 'The provider failed.' };

describe('durable jobs', () => {
  let world: JobWorld;

  beforeEach(async () => {
    world = await startJobWorld();
  });
  afterEach(() => world.end());

  /** Attempts that wait until they are released, or until the server stops. */
  function held() {
    const begun: string[] = [];
    const open = new Map<string, () => void>();
    const run = async ({ lane, payload }: Job, signal: AbortSignal): Promise<AttemptOutcome> => {
      const name = `${lane}${(payload as { number?: number }).number ?? ''}`;
      const { promise, resolve } = Promise.withResolvers<AttemptOutcome>();
      open.set(name, () => resolve(DONE));
      signal.addEventListener('abort', () => resolve(LATER));
      begun.push(name);
      return promise;
    };
    return { begun, run, letGo: (name: string) => open.get(name)?.() };
  }

  async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition())) await turn();
  }

  it('are run with their payload, which is then deleted from the database', async () => {
    const seen: unknown[] = [];
    const ended: string[] = [];
    const id = await world.add('acme', { token: 'secret-token' });
    expect((await world.get(id))?.payloadSealed?.includes('secret-token')).to.equal(false);
    const kind = kindOf(
      async ({ payload }) => {
        seen.push(payload);
        return { kind: 'done', result: 'SENT' };
      },
      {
        ended: async (tx, { id }, outcome) => tx.afterCommit(() => ended.push(`${id} ${outcome.kind}`)),
      },
    );
    await (await world.engine({ kinds: [kind] })).runDue();
    expect(seen).to.deep.equal([{ token: 'secret-token' }]);
    expect(await world.get(id)).to.include({ state: 'DONE', result: 'SENT', attempts: 1, payloadSealed: null });
    expect(ended).to.deep.equal([`${id} done`]);
    expect([world.counts, world.scrubs()]).to.deep.equal([['post done'], 1]);
  });

  it('of a kind without payload cause no scrub of the database files', async () => {
    const seen: unknown[] = [];
    const run = async ({ payload }: Job) => {
      seen.push(payload);
      return DONE;
    };
    const id = await world.add('acme');
    await (await world.engine({ kinds: [kindOf(run, { hasNoPayload: true })] })).runDue();
    expect(seen).to.deep.equal([{}]);
    expect(await world.get(id)).to.include({ state: 'DONE', payloadSealed: null });
    expect([world.counts, world.scrubs()]).to.deep.equal([['post done'], 0]);
  });

  it('do not exist when the transaction that adds them is rolled back', async () => {
    const { test, queue } = world;
    let added = 0;
    queue.onAdded(() => added++);
    const order = { environmentId: test.env, kind: 'post', lane: 'a', subjectId: null, giveUpAfterMs: 1 };
    const undone = test.store.write(async (tx) => {
      await queue.enqueue(tx, order, {});
      throw new Error('undone');
    });
    await undone.catch(() => {});
    expect(added).to.equal(0);
    expect(await test.store.read.jobQueue.nextLane('post', undefined)).to.equal(undefined);
    await test.store.write((tx) => queue.enqueue(tx, order, {}));
    expect(added).to.equal(1);
  });

  it('are run by one of two instances that claim concurrently', async () => {
    const runs: string[] = [];
    const engines = await Promise.all(
      ['one', 'two'].map((name) =>
        world.engine({
          kinds: [
            kindOf(
              async ({ id }) => {
                runs.push(`${name} ${id}`);
                return DONE;
              },
              { perLane: 2 },
            ),
          ],
        }),
      ),
    );
    const ids = [];
    for (let n = 0; n < 20; n++) ids.push(await world.add('acme'));
    await Promise.all(engines.map((engine) => engine.runDue()));
    expect(runs.map((run) => run.split(' ')[1]).sort()).to.deep.equal(ids.sort());
  });

  it('wait longer after each failed attempt, with jitter, and finally fail', async () => {
    const tries: number[] = [];
    const reasons: string[] = [];
    const begunAt = world.clock.now();
    const kind = kindOf(
      async () => {
        tries.push(world.clock.now() - begunAt);
        return LATER;
      },
      {
        ended: async (tx, _job, outcome) => tx.afterCommit(() => reasons.push(outcome.reason ?? '')),
      },
    );
    const engine = await world.engine({ kinds: [kind] });
    const id = await world.add('acme');
    for (;;) {
      await engine.runDue();
      const row = await world.get(id);
      if (row?.state !== 'WAITING') break;
      world.clock.advance(row.runAt - world.clock.now());
    }
    const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(pauses[0]).to.be.within(5 * SECOND, 10 * SECOND);
    expect(pauses[2]).to.be.within(20 * SECOND, 40 * SECOND);
    for (const pause of pauses) expect(pause).to.be.at.most(100 * SECOND);
    expect(tries.at(-1)).to.equal(1000 * SECOND);
    expect(reasons).to.deep.equal(['Given up. The provider failed.']);
    const failed = await world.get(id);
    expect(failed).to.include({ state: 'FAILED', reason: reasons[0], attempts: tries.length });
    expect(failed?.payloadSealed).not.to.equal(null);
  });

  it('wait as long as the other server asks', async () => {
    const engine = await world.engine({ kinds: [kindOf(async () => ({ ...LATER, retryAfterMs: 300 * SECOND }))] });
    const id = await world.add('acme');
    await engine.runDue();
    expect((await world.get(id))?.runAt).to.equal(world.clock.now() + 300 * SECOND);
  });

  it('are logged and retried when the kind throws, or when the payload cannot be decrypted', async () => {
    const kinds = [
      kindOf(() => {
        throw new Error('planted');
      }),
      kindOf(async () => DONE, { name: 'revocation' }),
    ];
    const engine = await world.engine({ kinds });
    const id = await world.add('acme');
    const { NEW } = await import('../vault/support.ts');
    const { clock, test } = world;
    const times = { runAt: clock.now(), giveUpAt: clock.now() + SECOND, createdAt: clock.now() };
    await test.store.write((tx) => tx.jobs.insert(test.env, job('job_x', 'ca_1', { kekId: NEW, ...times })));
    await engine.runDue();
    for (const each of [id, 'job_x']) {
      const row = await world.get(each);
      expect(row).to.include({
        state: 'WAITING',
        attempts: 1,
        reason: 'The server failed before the attempt was complete.',
      });
    }
    expect(world.lines.map(({ text }) => text)).to.deep.equal(Array(2).fill('an attempt of a job failed unexpectedly'));
  });

  it('are not run if this version does not know their kind', async () => {
    const id = await world.add('acme', {}, 'from_the_future');
    const engine = await world.engine({ kinds: [kindOf(async () => DONE)] });
    await engine.runDue();
    expect(await world.get(id)).to.include({ state: 'WAITING', attempts: 0 });
    expect(world.lines).to.deep.equal([]);
  });

  describe('in lanes', () => {
    it('are started regardless of how many wait in a slow lane before them', async () => {
      const { begun, run, letGo } = held();
      const engine = await world.engine({ kinds: [kindOf(run)] });
      for (let number = 0; number < 300; number++) await world.add('slow', { number });
      await world.add('zippy');
      const running = engine.runDue();
      await until(() => begun.includes('zippy'));
      expect(begun.filter((name) => name.startsWith('slow'))).to.have.lengthOf(4);
      letGo('zippy');
      await engine.stop();
      await running;
    });

    it('are started regardless of the number of slow lanes', async () => {
      const { begun, run } = held();
      const engine = await world.engine({ kinds: [kindOf(run)] });
      for (let lane = 10; lane < 18; lane++) {
        for (let number = 0; number < 8; number++) await world.add(`slow${lane} `, { number });
      }
      const running = engine.runDue();
      await until(async () => begun.length >= 28);
      await world.add('zippy');
      const second = engine.runDue();
      await until(() => begun.includes('zippy'));
      expect(begun.length).to.be.at.most(32);
      await engine.stop();
      await Promise.all([running, second]);
    });

    it('are all found, regardless of how many earlier ones wait for another attempt', async () => {
      const runs: string[] = [];
      const engine = await world.engine({
        kinds: [
          kindOf(async ({ lane }) => {
            runs.push(lane);
            return LATER;
          }),
        ],
      });
      for (let lane = 1000; lane < 1250; lane++) await world.add(`lane${lane}`);
      await engine.runDue();
      expect(runs.length).to.equal(250);
      for (const lane of ['zippy1', 'zippy2', 'zippy3']) {
        await world.add(lane);
        await engine.runDue();
        expect(runs.at(-1)).to.equal(lane);
      }
    });

    it('are all found, regardless of their number', async () => {
      const runs: string[] = [];
      for (let lane = 1000; lane < 1250; lane++) await world.add(`lane${lane}`);
      const engine = await world.engine({
        kinds: [
          kindOf(async ({ lane }) => {
            runs.push(lane);
            return DONE;
          }),
        ],
      });
      await engine.runDue();
      expect(new Set(runs).size).to.equal(250);
    });
  });

  describe('when their instance', () => {
    it('has ended, they are retried by another one, as after a failed attempt', async () => {
      const { begun, run } = held();
      const first = await world.engine({ kinds: [kindOf(run)] });
      const id = await world.add('acme');
      startPass(first);
      await until(() => begun.length === 1);
      const runs: string[] = [];
      const second = await world.engine({
        kinds: [
          kindOf(async ({ id }) => {
            runs.push(id);
            return DONE;
          }),
        ],
      });
      await second.runDue();
      expect(runs).to.deep.equal([]);
      await world.test.store.write((tx) => tx.instances.remove(first.owner));
      await second.runDue();
      expect(await world.get(id)).to.include({ state: 'WAITING', reason: 'The server ended during the attempt.' });
      world.clock.advance(10 * SECOND);
      await second.runDue();
      expect(runs).to.deep.equal([id]);
      expect(await world.get(id)).to.include({ state: 'DONE', attempts: 2 });
    });

    it('was wrongly considered ended, its result does not overwrite the attempt of another one', async () => {
      const { begun, run, letGo } = held();
      const first = await world.engine({ kinds: [kindOf(run)] });
      const id = await world.add('acme');
      const running = first.runDue();
      await until(() => begun.length === 1);
      await world.test.store.write((tx) => tx.instances.remove(first.owner));
      const second = await world.engine({ kinds: [kindOf(async () => ({ kind: 'failed', reason: 'Refused.' }))] });
      await second.runDue();
      world.clock.advance(10 * SECOND);
      await second.runDue();
      letGo('acme');
      await running;
      expect(await world.get(id)).to.include({ state: 'FAILED', reason: 'Refused.' });
    });

    it('crashes repeatedly during the attempt, they finally fail', async () => {
      const id = await world.add('acme');
      const { store, env } = world.test;
      for (let crash = 0; (await world.get(id))?.state !== 'FAILED'; crash++) {
        expect(crash).to.be.below(100);
        const row = await world.get(id);
        world.clock.advance(Math.max(0, (row?.runAt ?? 0) - world.clock.now()));
        const lost = await world.engine();
        const lane = { environmentId: env, kind: 'post', lane: 'acme' };
        await store.write((tx) => tx.jobQueue.claim({ ...lane, owner: lost.owner, now: world.clock.now(), limit: 1 }));
        await store.write((tx) => tx.instances.remove(lost.owner));
        const next = await world.engine({ kinds: [kindOf(() => Promise.reject(new Error('not reached')))] });
        await next.runDue();
      }
      expect((await world.get(id))?.reason).to.equal('Given up. The server ended during the attempt.');
    });
  });

  it('are not run again if their outcome cannot be stored at first', async () => {
    let runs = 0;
    let isFull = false;
    const { store } = world.test;
    const write: typeof store.write = (unit) =>
      isFull ? Promise.reject(new StorageError('FULL', 'the disk is full')) : store.write(unit);
    const kind = kindOf(async () => {
      runs++;
      isFull = true;
      return DONE;
    });
    const engine = await world.engine({ store: { ...store, write }, kinds: [kind] });
    const id = await world.add('acme');
    await engine.runDue();
    expect(await world.get(id)).to.include({ state: 'RUNNING' });
    isFull = false;
    await engine.runDue();
    expect(await world.get(id)).to.include({ state: 'DONE', attempts: 1 });
    expect(runs).to.equal(1);
  });

  describe('that have to store something', () => {
    const RUN: AttemptOutcome = { kind: 'retry', reason: 'Not known before the transaction.' };
    const stored = async (): Promise<number> => (await world.test.store.read.periodicJobs.list()).length;
    const found = (kind: string) => (tx: Transaction) => tx.periodicJobs.add(kind, 0);

    it('store it in the transaction that ends them, with the outcome of that transaction', async () => {
      let isFailing = true;
      let runs = 0;
      const kind = kindOf(
        async () => {
          runs++;
          return { ...RUN, store: (tx) => found('found')(tx).then(() => DONE) };
        },
        {
          ended: async () => {
            if (isFailing) throw new StorageError('IOERR', 'the disk fails');
          },
        },
      );
      const engine = await world.engine({ kinds: [kind] });
      const before = await stored();
      const id = await world.add('acme');
      await engine.runDue();
      expect(await world.get(id)).to.include({ state: 'RUNNING' });
      expect(await stored()).to.equal(before);
      isFailing = false;
      await engine.runDue();
      expect(await world.get(id)).to.include({ state: 'DONE', attempts: 1 });
      expect(await stored()).to.equal(before + 1);
      expect([runs, world.counts]).to.deep.equal([1, ['post done']]);
    });

    it('are retried if it can never be stored', async () => {
      const kind = kindOf(async () => ({ ...RUN, store: () => Promise.reject(new RelationError('a row is missing')) }));
      const engine = await world.engine({ kinds: [kind] });
      const id = await world.add('acme');
      await engine.runDue();
      await engine.runDue();
      const reason = 'The server failed before the attempt was complete.';
      expect(await world.get(id)).to.include({ state: 'WAITING', attempts: 1, reason });
    });
  });

  describe('when the server stops', () => {
    it('they are interrupted, and due again immediately', async () => {
      const begun: string[] = [];
      const kind = kindOf(async ({ id }, signal) => {
        begun.push(id);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return LATER;
      });
      const engine = await world.engine({ kinds: [kind] });
      const id = await world.add('acme');
      const running = engine.runDue();
      await until(() => begun.length === 1);
      await engine.stop();
      await running;
      expect(await world.get(id)).to.include({ state: 'WAITING', runAt: world.clock.now(), owner: null });
      await world.add('acme');
      await engine.runDue();
      expect(begun).to.have.lengthOf(1);
    });

    it('they do not delay the stop beyond the limit', async () => {
      const begun: string[] = [];
      const deaf = kindOf(({ id }) => new Promise(() => begun.push(id)));
      const engine = await world.engine({ kinds: [deaf] });
      await world.add('acme');
      startPass(engine);
      await until(() => begun.length === 1);
      mock.timers.enable({ apis: ['setTimeout'] });
      try {
        let isStopped = false;
        const stopped = engine.stop().then(() => {
          isStopped = true;
        });
        for (let turns = 0; turns < 10; turns++) await turn();
        expect(isStopped).to.equal(false);
        mock.timers.tick(5 * SECOND);
        await stopped;
      } finally {
        mock.timers.reset();
      }
    });
  });

  it('those that another pass started, and those that they add, have run when runDue resolves', async () => {
    const { begun, run, letGo } = held();
    const follower = {
      environmentId: world.test.env,
      kind: 'follower',
      lane: 'acme',
      subjectId: 'ca_1',
      giveUpAfterMs: SECOND,
    };
    let followed = 0;
    const engine = await world.engine({
      kinds: [
        kindOf(run, { ended: async (tx) => void (await world.queue.enqueue(tx, follower, {})) }),
        kindOf(
          async () => {
            followed++;
            return DONE;
          },
          { name: 'follower' },
        ),
      ],
    });
    await world.add('acme');
    const first = engine.runDue();
    await until(() => begun.length === 1);
    const passes: string[] = [];
    const second = engine.runDue().then(() => void passes.push(`followed ${followed}`));
    for (let turns = 0; turns < 50; turns++) await turn();
    expect(passes).to.deep.equal([]);
    letGo('acme');
    await Promise.all([first, second]);
    expect(passes).to.deep.equal(['followed 1']);
  });

  it('those that take too long fail and release their slot', async function () {
    // Mocked timers would also stop the clock with which the driver of a database server limits statements.
    if (isOnServer()) this.skip();
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const signals: AbortSignal[] = [];
      const kind = kindOf((_job, signal) => new Promise(() => signals.push(signal)), { perLane: 1 });
      const engine = await world.engine({ kinds: [kind] });
      const ids = [await world.add('acme'), await world.add('acme')];
      startPass(engine);
      await until(() => signals.length === 1);
      mock.timers.tick(90 * SECOND);
      await until(() => signals.length === 2);
      expect(signals.map(({ aborted }) => aborted)).to.deep.equal([true, false]);
      const rows = await Promise.all(ids.map(world.get));
      expect(rows.map((row) => row?.reason)).to.have.members(['The attempt did not end within 90 seconds.', null]);
    } finally {
      mock.timers.reset();
    }
  });

  it('those whose claim failed leave no slot taken, and run later even if the claim was committed', async () => {
    const { store } = world.test;
    let failures = 0;
    const unlucky: typeof store = {
      ...store,
      async note(unit) {
        await store.note(unit);
        if (failures++ < 2) throw new StorageError('OUTCOME_UNKNOWN', 'the connection was lost');
      },
    };
    const ran: string[] = [];
    const kind = kindOf(
      async ({ id }) => {
        ran.push(id);
        return DONE;
      },
      { perLane: 2 },
    );
    const engine = await world.engine({ store: unlucky, kinds: [kind] });
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) ids.push(await world.add('acme'));
    for (let failed = 0; failed < 2; failed++) {
      const error = await engine.runDue().catch((reason) => reason);
      expect(error).to.include({ name: 'StorageError', code: 'OUTCOME_UNKNOWN' });
      world.clock.advance(20 * SECOND);
    }
    await engine.runDue();
    world.clock.advance(100 * SECOND);
    await engine.runDue();
    expect(ran).to.have.members(ids);
    expect(await store.read.jobQueue.owned(engine.owner)).to.deep.equal([]);
  });

  it('those that were added are started by the timer', async () => {
    let runs = 0;
    const engine = await world.engine({
      kinds: [
        kindOf(async () => {
          runs++;
          return DONE;
        }),
      ],
    });
    engine.start();
    await world.add('acme');
    await until(() => runs === 1);
    await engine.stop();
  });
});
