import { expect } from 'chai';
import { createMetrics, type Metrics } from '../../http/monitoring/metrics.ts';
import { addJobMetrics } from '../../wiring/job-metrics.ts';
import { wrap } from '../../wiring/overrides.ts';
import { type TestClock, testClock } from '../support/clock.ts';
import { jobMaker, KIND_WITHOUT_RUNNER } from '../support/jobs.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

describe('metrics of jobs', () => {
  let clock: TestClock;
  let server: TestServer;
  let metrics: Metrics;

  beforeEach(async () => {
    clock = testClock();
    server = await startTestServer({ overrides: { now: clock.now } });
    metrics = createMetrics();
  });
  afterEach(() => server.stop());

  /** Returns the lines of some metrics, without their comments. */
  async function lines(shown: Metrics, prefix = 'valetkey_jobs'): Promise<string[]> {
    const text = await shown.registry.metrics();
    return text.split('\n').filter((line) => line.startsWith(prefix));
  }

  it('count waiting, running and failed jobs, but not completed ones', async () => {
    addJobMetrics({ ...server.parts, metrics }, [KIND_WITHOUT_RUNNER]);
    expect(await lines(metrics, 'valetkey_jobs{')).to.deep.equal([
      `valetkey_jobs{kind="${KIND_WITHOUT_RUNNER}",state="waiting"} 0`,
      `valetkey_jobs{kind="${KIND_WITHOUT_RUNNER}",state="running"} 0`,
      `valetkey_jobs{kind="${KIND_WITHOUT_RUNNER}",state="failed"} 0`,
    ]);
    const make = await jobMaker(server);
    for (let n = 0; n < 3; n++) await make.waiting();
    for (let n = 0; n < 2; n++) await make.running();
    await make.failed('The provider failed.');
    await make.done();
    expect(await lines(metrics, 'valetkey_jobs{')).to.deep.equal([
      `valetkey_jobs{kind="${KIND_WITHOUT_RUNNER}",state="waiting"} 3`,
      `valetkey_jobs{kind="${KIND_WITHOUT_RUNNER}",state="running"} 2`,
      `valetkey_jobs{kind="${KIND_WITHOUT_RUNNER}",state="failed"} 1`,
    ]);
  });

  it('report for how long the first waiting one has been due', async () => {
    addJobMetrics({ ...server.parts, metrics }, [KIND_WITHOUT_RUNNER]);
    const overdue = async () => (await lines(metrics, 'valetkey_jobs_overdue_seconds'))[0]?.split(' ')[1];
    expect(await overdue()).to.equal('0');
    const make = await jobMaker(server);
    await make.waiting();
    clock.advance(90_000);
    await make.waiting();
    expect(await overdue()).to.equal('90');
    clock.advance(-120_000);
    expect(await overdue(), 'due later').to.equal('0');
  });

  it('keep their last values while the database cannot be read', async () => {
    let isBroken = false;
    const { jobQueue } = server.parts.store.read;
    const tally: typeof jobQueue.tally = (...args) =>
      isBroken ? Promise.reject(new Error('planted')) : jobQueue.tally(...args);
    const read = { ...server.parts.store.read, jobQueue: { ...jobQueue, tally } };
    addJobMetrics({ now: clock.now, metrics, store: { ...server.parts.store, read } }, [KIND_WITHOUT_RUNNER]);
    await (await jobMaker(server)).waiting();
    const before = await lines(metrics);
    isBroken = true;
    expect(await lines(metrics)).to.deep.equal(before);
    expect(before[0]).to.match(/ 1$/);
  });

  it('are exported by the server for each kind that it runs', async () => {
    const names = (await lines(server.parts.metrics)).map((line) => line.split(' ')[0]);
    const kinds = ['revocation', 'webhook_delivery', 'webhook_redelivery'];
    const states = ['waiting', 'running', 'failed'];
    expect(names).to.deep.equal([
      ...kinds.flatMap((kind) => states.map((state) => `valetkey_jobs{kind="${kind}",state="${state}"}`)),
      ...kinds.map((kind) => `valetkey_jobs_overdue_seconds{kind="${kind}"}`),
    ]);
  });
});

describe('the folding of counts', () => {
  it('is a periodic job of the deployment, with metrics, if the engine stores several rows for each count', async () => {
    let folds = 0;
    const fold = async () => void folds++;
    const server = await startTestServer({ overrides: { store: wrap((store) => Object.assign(store, { fold })) } });
    try {
      await server.parts.jobs.runDue();
      expect(folds).to.equal(1);
      const text = await server.parts.metrics.registry.metrics();
      expect(text).to.include('valetkey_periodic_job_runs_total{job="count_folding",outcome="done"} 1\n');
      expect(text).to.match(/^valetkey_periodic_job_seconds_total\{job="count_folding"\} [0-9.e-]+$/m);
    } finally {
      await server.stop();
    }
  });
});
