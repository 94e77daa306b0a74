import { expect } from 'chai';
import { EXPIRING, type Expiring } from '../../../core/retention/expiring.ts';
import { createRetention, type RetentionDeps } from '../../../core/retention/retention.ts';
import { readConfig } from '../../../http/config/config.ts';
import { createApplication } from '../../../wiring/create-application.ts';
import {
  account,
  addEnvironment,
  addKeyChecks,
  authRequest,
  digest,
  github,
  grant,
  job,
  laneOf,
  NOW,
  openTestStore,
  storedContent,
  type TestStore,
} from '../../db/support.ts';
import { tempDir } from '../../support/temp-dir.ts';

const DAY = 24 * 60 * 60 * 1000;
const LATER = NOW + 91 * DAY;

describe('F7: removing expired rows', () => {
  let test: TestStore;
  /** The number of rows that each transaction removed. */
  let pieces: number[];
  let pauses: number;
  let errors: string[];

  beforeEach(async () => {
    test = await openTestStore();
    [pieces, pauses, errors] = [[], 0, []];
  });
  afterEach(() => test.end());

  const retention = (over: Partial<RetentionDeps> = {}) =>
    createRetention({
      store: {
        read: test.store.read,
        write: async (unit) => {
          const result = await test.store.write(unit);
          pieces.push(result as number);
          return result;
        },
      },
      now: () => LATER,
      wait: async () => {
        pauses += 1;
      },
      log: { error: (_fields, message) => errors.push(message) },
      ...over,
    });

  const addKeys = (count: number, reply = 0, expiresAt = NOW + DAY) =>
    test.store.write(async (tx) => {
      for (let number = 0; number < count; number++) {
        const name = { clientId: 'cli_1', route: 'executeTool', keyDigest: digest(`key ${expiresAt} ${number}`) };
        await tx.idempotencyKeys.claim(test.env, {
          ...name,
          requestDigest: digest('body'),
          instance: 0,
          createdAt: NOW,
          expiresAt,
        });
        if (reply === 0) continue;
        await tx.idempotencyKeys.complete(test.env, name, { status: 200, sealedReply: Buffer.alloc(reply) });
      }
    });

  const addExecutions = (count: number, startedAt: number) =>
    test.store.write(async (tx) => {
      for (let number = 0; number < count; number++) {
        const what = { accountId: null, connector: 'github', toolName: 'github_get', agentRunId: null };
        await tx.executions.insert(test.env, {
          id: test.newId('exec'),
          ...what,
          apiClientId: 'cli_1',
          instance: 0,
          startedAt,
        });
      }
    });

  const executions = async () => (await test.store.read.executions.list(test.env, {}, { size: 1 })).total;

  it('removes rows in several batches with a pause after each, until none is left', async () => {
    await addKeys(450);
    await addExecutions(450, NOW);
    expect(await retention().run()).to.equal(900);
    expect(pieces.filter((rows) => rows > 0)).to.deep.equal([200, 200, 50, 200, 200, 50]);
    expect(pauses).to.equal(6);
    expect(await executions()).to.equal(0);
  });

  it('removes rows with large sealed contents in smaller batches, and a very large one alone', async () => {
    await addKeyChecks(test.store, 'kek_1');
    await addKeys(40, 100 * 1024);
    const mebibytes = (size: number) => ({ size: size * 1024 * 1024, expiresAt: NOW + size });
    await test.store.write(async (tx) => {
      for (const size of [10, 11]) {
        await tx.storedContents.insert(test.env, storedContent(`file_${size}`, 'ca_1', mebibytes(size)));
      }
    });
    await retention().run();
    expect(pieces.filter((rows) => rows > 0)).to.deep.equal([10, 10, 10, 10, 1, 1]);
  });

  it('keeps what has not expired', async () => {
    await addKeys(1, 0, LATER + 1);
    await addExecutions(1, LATER);
    expect(await retention().run()).to.equal(0);
    expect(await executions()).to.equal(1);
  });

  it('keeps executions for the time that their environment sets', async () => {
    const short = await addEnvironment(test.store, test.newId, 'short.example');
    await test.store.write((tx) => tx.environments.setSettings(short, { executionRetentionDays: 1 }));
    const execution = (id: string) => ({
      id,
      accountId: null,
      connector: 'github',
      toolName: 'github_get',
      agentRunId: null,
      apiClientId: 'cli_1',
      instance: 0,
      startedAt: LATER - 2 * DAY,
    });
    await test.store.write((tx) => tx.executions.insert(test.env, execution('exec_1')));
    await test.store.write((tx) => tx.executions.insert(short, execution('exec_2')));
    expect(await retention().run()).to.equal(1);
    expect(await test.store.read.executions.get(test.env, 'exec_1')).to.include({ id: 'exec_1' });
  });

  it('removes ended jobs after 90 days, and ended links after a day', async () => {
    await addKeyChecks(test.store, 'kek_1');
    const row = account(test.newId, await github(test));
    await test.store.write(async (tx) => {
      await tx.accounts.insert(test.env, row);
      await tx.jobs.insert(test.env, job('job_1', row.id));
      await tx.jobQueue.claim({ ...laneOf(test.env), owner: 1, now: NOW, limit: 1 });
      await tx.jobQueue.done({ id: 'job_1', attempts: 1, owner: 1 }, { at: NOW });
      await tx.authRequests.insert(test.env, authRequest('areq_1', row.id, row.connectionId, { expiresAt: NOW + 10 }));
      await tx.authRequests.finish(test.env, 'areq_1', grant('areq_1'));
      await tx.authRequests.end(test.env, 'areq_1', 'CONSUMED', LATER - DAY);
    });
    expect(await retention({ now: () => NOW + 90 * DAY }).run()).to.equal(0);
    expect(await retention({ now: () => NOW + 90 * DAY + 1 }).run()).to.equal(1);
    expect(await retention().run()).to.equal(0);
    expect(await retention({ now: () => LATER + 1 }).run()).to.equal(1);
  });

  it('removes rows of the other kinds when one kind fails, and does not reject', async () => {
    await addExecutions(3, NOW);
    const broken: Expiring = { name: 'broken rows', removeSome: () => Promise.reject(new Error('disk full')) };
    expect(await retention({ expiring: [broken, ...EXPIRING] }).run()).to.equal(3);
    expect(errors).to.deep.equal(['expired broken rows could not be removed']);
  });

  it('deletes the payload of a failed job after seven days, and keeps the job', async () => {
    await addKeyChecks(test.store, 'kek_1');
    await test.store.write(async (tx) => {
      await tx.jobs.insert(test.env, job('job_1', 'ca_1'));
      await tx.jobQueue.claim({ ...laneOf(test.env), owner: 1, now: NOW, limit: 1 });
      await tx.jobQueue.fail({ id: 'job_1', attempts: 1, owner: 1 }, { at: NOW, reason: 'Refused.' });
    });
    expect(await retention({ now: () => NOW + 7 * DAY }).run()).to.equal(0);
    expect(await retention({ now: () => NOW + 7 * DAY + 1 }).run()).to.equal(1);
    const kept = await test.store.read.jobs.get(test.env, 'job_1');
    expect(kept).to.include({ state: 'FAILED', reason: 'Refused.', payloadSealed: null, kekId: null });
  });

  it('ends after the current batch when it is stopped', async () => {
    await addKeys(450);
    const stopping = new AbortController();
    const sweeper = retention({ wait: async () => stopping.abort() });
    expect(await sweeper.run(stopping.signal)).to.equal(200);
    expect(await sweeper.run(stopping.signal)).to.equal(0);
  });

  it('does not delay the start: rows that expired meanwhile are removed afterwards', async () => {
    await addKeys(450, 10);
    await test.store.close();
    const { config, secrets } = readConfig({ DATABASE_URL: test.file, DATA_DIR: tempDir().path, LOG_LEVEL: 'silent' });
    const { parts } = await createApplication(config, secrets, { now: () => LATER });
    const name = { clientId: 'cli_1', route: 'executeTool', keyDigest: digest(`key ${NOW + DAY} 0`) };
    const kept = await parts.store.read.idempotencyKeys.get(test.env, name);
    await parts.close();
    expect(kept).to.include({ state: 'DONE' });
  });
});
