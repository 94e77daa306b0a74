import { expect } from 'chai';
import { ApiError } from '../../../core/errors.ts';
import { type Job, JobLimitError, type JobThread } from '../../../core/threads/job.ts';
import { createThreadPool, type PoolLimits, type ThreadPool } from '../../../core/threads/pool.ts';

const MIB = 1024 * 1024;
const LIMITS: PoolLimits = {
  threads: 2,
  heapBytes: 64 * MIB,
  idleMs: 60_000,
  places: 3,
  waiting: 4,
  tenantBytes: 100,
  bytes: 250,
};
const COST = { tenant: 'a', bytes: 1 };

function job(name: string, timeMs = 60_000): Job<unknown, unknown> {
  return { module: new URL(`./jobs/${name}.ts`, import.meta.url), timeMs };
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail('the job was not refused'),
    (error) => error,
  );
}

describe('a pool of threads', () => {
  let pool: ThreadPool;

  before(() => {
    pool = createThreadPool(LIMITS);
  });
  after(() => pool.close());

  it('ends a job that runs too long, and runs the next one in a new thread', async () => {
    const error = await failureOf(pool.run(job('endless', 5), null, COST));
    expect(error).to.be.instanceOf(JobLimitError).and.include({ reason: 'time' });
    expect(await pool.run(job('echo'), { text: 'after' }, COST)).to.deep.equal({ text: 'after' });
  });

  it('ends a job that uses too much memory', async () => {
    const error = await failureOf(pool.run(job('greedy'), null, COST));
    expect(error).to.be.instanceOf(JobLimitError).and.include({ reason: 'memory' });
  });

  it('rethrows the ApiError of a job', async () => {
    const error = (await failureOf(pool.run(job('refused'), null, COST))) as ApiError;
    expect(error).to.be.instanceOf(ApiError).and.include({ code: 'INVALID_DOCUMENT', message: 'It cannot be read.' });
    expect(error.errors).to.deep.equal([{ field: 'files', message: 'are bad' }]);
  });

  it('reports the error of a job', async () => {
    const error = await failureOf(pool.run(job('broken'), null, COST));
    expect(error).to.be.instanceOf(TypeError).and.include({ message: 'a fault in the code' });
  });

  it('refuses an input that cannot be cloned, and keeps the thread', async () => {
    const error = await failureOf(pool.run(job('echo'), () => {}, COST));
    expect(error).to.include({ name: 'DataCloneError' });
    expect(await pool.run(job('echo'), 1, COST)).to.equal(1);
  });

  it('shows jobs neither the environment variables nor the flags of the process', async () => {
    expect(await pool.run(job('environment'), null, COST)).to.deep.equal({ variables: [], flags: [] });
  });

  it('rejects running and waiting jobs when it is closed', async () => {
    const closing = createThreadPool({ ...LIMITS, threads: 1 });
    const jobs = [1, 2].map(() => failureOf(closing.run(job('endless'), null, COST)));
    await closing.close();
    for (const error of await Promise.all(jobs)) expect(error).to.be.instanceOf(Error);
    expect(await failureOf(closing.run(job('echo'), null, COST))).to.include({ message: 'The server is stopping.' });
  });
});

/** A thread whose jobs end when the test says so. */
class FakeThread implements JobThread {
  usable = true;
  finish: () => void = () => {};
  end: () => Promise<void> = async () => {};
  readonly #ran: string[];

  constructor(ran: string[]) {
    this.#ran = ran;
  }

  run<I, O>(_job: Job<I, O>, input: I): Promise<O> {
    this.#ran.push(String(input));
    return new Promise((resolve) => {
      this.finish = () => resolve(input as unknown as O);
    });
  }
}

describe('the queue of a pool', () => {
  let ran: string[];
  let threads: FakeThread[];
  let pool: ThreadPool;

  function poolOf(limits: Partial<PoolLimits> = {}): ThreadPool {
    ran = [];
    threads = [];
    return createThreadPool({ ...LIMITS, ...limits }, () => {
      const thread = new FakeThread(ran);
      threads.push(thread);
      return thread;
    });
  }

  beforeEach(() => {
    pool = poolOf();
  });

  const add = (name: string, tenant: string, bytes = 1) => pool.run(job('echo'), name, { tenant, bytes });
  const codeOf = async (promise: Promise<unknown>) => ((await failureOf(promise)) as ApiError).code;
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

  it('starts no thread before there is a job', () => {
    expect(threads).to.have.length(0);
    void add('a1', 'a');
    expect(threads).to.have.length(1);
  });

  it('reserves a thread for other tenants, and alternates between tenants', async () => {
    for (const name of ['a1', 'a2', 'a3']) void add(name, 'a');
    expect(ran).to.deep.equal(['a1']);
    for (const name of ['b1', 'b2']) void add(name, 'b');
    expect(ran).to.deep.equal(['a1', 'b1']);
    threads[0]?.finish();
    await settled();
    expect(ran).to.deep.equal(['a1', 'b1', 'a2']);
    threads[1]?.finish();
    await settled();
    expect(ran).to.deep.equal(['a1', 'b1', 'a2', 'b2']);
    expect(threads).to.have.length(2);
  });

  it('refuses a tenant that has used its slots with 429, and accepts another tenant', async () => {
    for (const name of ['a1', 'a2', 'a3']) void add(name, 'a');
    expect(await codeOf(add('a4', 'a'))).to.equal('RATE_LIMITED');
    void add('b1', 'b');
    expect(ran).to.deep.equal(['a1', 'b1']);
    threads[0]?.finish();
    await settled();
    void add('a4', 'a');
    await settled();
    expect(ran).to.deep.equal(['a1', 'b1', 'a2']);
  });

  it('refuses jobs with 503 when too many wait', async () => {
    for (const tenant of ['a', 'b', 'c', 'd', 'e', 'f']) void add(`${tenant}1`, tenant);
    expect(ran).to.deep.equal(['a1', 'b1']);
    expect(await codeOf(add('g1', 'g'))).to.equal('SERVER_BUSY');
  });

  it('limits the bytes of a tenant and of all tenants, and accepts one job of any size', async () => {
    void add('a1', 'a', 90);
    expect(await codeOf(add('a2', 'a', 11))).to.equal('RATE_LIMITED');
    void add('b1', 'b', 100);
    expect(await codeOf(add('c1', 'c', 61))).to.equal('SERVER_BUSY');
    for (const thread of threads) thread.finish();
    await settled();
    void add('d1', 'd', 10_000);
    expect(ran).to.deep.equal(['a1', 'b1', 'd1']);
  });

  it('replaces a thread that has ended', async () => {
    void add('a1', 'a');
    (threads[0] as FakeThread).usable = false;
    threads[0]?.finish();
    await settled();
    void add('a2', 'a');
    expect(threads).to.have.length(2);
    expect(ran).to.deep.equal(['a1', 'a2']);
  });

  it('ends an idle thread, and starts another one when necessary', async () => {
    pool = poolOf({ idleMs: 1 });
    void add('a1', 'a');
    const ended = new Promise<void>((resolve) => {
      (threads[0] as FakeThread).end = async () => resolve();
    });
    threads[0]?.finish();
    await ended;
    void add('a2', 'a');
    expect(threads).to.have.length(2);
  });
});
