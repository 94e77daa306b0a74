import { mock } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { STORAGE } from '../../../core/budgets.ts';
import type { Synced } from '../../../db/sqlite/durability.ts';
import { createHighWaterMark } from '../../../db/sqlite/high-water-mark.ts';
import type { Claim } from '../../../db/sqlite/mark-file.ts';

describe('the high-water mark (F15)', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  /** Creates a log whose commits and syncs the test controls. Records the frame number of each claim in the mark. */
  function setUp() {
    const claims: number[] = [];
    const syncs: Synced[] = [];
    const reports: string[] = [];
    const log = { frames: 0, syncsOfMark: 0, measures: 0 };
    const faults: { write?: Error; measure?: Error } = {};
    const mark = createHighWaterMark({
      file: {
        write(claim: Claim, done: Synced) {
          if (!faults.write) claims.push(claim.frames);
          setImmediate(() => done(faults.write ?? null));
        },
        sync(done: Synced) {
          log.syncsOfMark++;
          setImmediate(() => done(null));
        },
        close: () => {},
      },
      measure: () => {
        log.measures++;
        if (faults.measure) throw faults.measure;
        return { salts: 'salts', frames: log.frames, totals: {} };
      },
      syncLog: (done) => void syncs.push(done),
      report: (error) => void reports.push((error as Error).message),
    });
    const commit = () => {
      log.frames++;
      return new Promise<Error | null>((resolve) => mark.sync(resolve));
    };
    const endSyncs = async (error: Error | null = null) => {
      for (const done of syncs.splice(0)) done(error);
      await turn();
    };
    const pass = () => mock.timers.tick(STORAGE.markEveryMs);
    return { mark, claims, syncs, reports, log, faults, commit, endSyncs, pass };
  }

  it('covers what was committed before a sync, and only after the sync has ended', async () => {
    const { claims, commit, endSyncs, log } = setUp();
    const first = commit();
    log.frames = 7;
    expect(claims).to.deep.equal([]);
    await endSyncs();
    await first;
    expect(claims).to.deep.equal([1]);
  });

  it('is measured at most ten times a second under any load, and adds no sync to a commit', async () => {
    const { commit, endSyncs, pass, log, syncs } = setUp();
    for (let second = 0; second < 3; second++) {
      for (let tenth = 0; tenth < 10; tenth++) {
        for (let i = 0; i < 20; i++) {
          const done = commit();
          expect(syncs).to.have.length(1);
          await endSyncs();
          await done;
        }
        pass();
        await endSyncs();
      }
    }
    expect(log.measures).to.be.within(30, 61);
  });

  it('follows the last commit, with one additional sync', async () => {
    const { claims, commit, endSyncs, pass, syncs } = setUp();
    for (let i = 0; i < 5; i++) {
      void commit();
      await endSyncs();
    }
    expect(claims).to.deep.equal([1]);
    pass();
    expect(syncs).to.have.length(1);
    await endSyncs();
    expect(claims).to.deep.equal([1, 5]);
    pass();
    pass();
    expect(syncs).to.have.length(0);
  });

  it('covers nothing more after a failed sync, even if the next one succeeds', async () => {
    const { mark, claims, commit, endSyncs, pass } = setUp();
    const told = commit();
    await endSyncs(new Error('EIO'));
    expect((await told)?.message).to.equal('EIO');
    void commit();
    await endSyncs();
    pass();
    void commit();
    await endSyncs();
    const closed = mark.close();
    await endSyncs();
    await closed;
    expect(claims).to.deep.equal([]);
  });

  it('fails no commit when it cannot be measured or written, and continues later', async () => {
    const { claims, reports, faults, commit, endSyncs, pass } = setUp();
    for (const fault of ['measure', 'write'] as const) {
      faults[fault] = new Error(`cannot ${fault}`);
      const told = commit();
      await endSyncs();
      expect(await told).to.equal(null);
      delete faults[fault];
      pass();
      await endSyncs();
    }
    expect(reports).to.deep.equal(['cannot measure', 'cannot write']);
    const told = commit();
    await endSyncs();
    await told;
    expect(claims.at(-1)).to.equal(3);
  });

  it('is synced itself from time to time, and at the end', async () => {
    const { mark, commit, endSyncs, pass, log, claims } = setUp();
    for (let i = 0; i < STORAGE.markSyncEvery; i++) {
      const done = commit();
      await endSyncs();
      await done;
      pass();
    }
    expect(log.syncsOfMark).to.equal(1);
    log.frames = 999;
    const closed = mark.close();
    await endSyncs();
    await closed;
    expect(claims.at(-1)).to.equal(999);
    expect(log.syncsOfMark).to.equal(2);
  });
});
