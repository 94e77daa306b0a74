import { and, asc, count, eq, type SQL, sql } from './drizzle.ts';
import { JOB_COLUMNS } from './jobs.ts';
import type { JobAttempt, JobClaim, JobEnd, JobLane, JobTally, WaitingLane } from './rows/job-queue.ts';
import type { JobRow, JobState } from './rows/jobs.ts';
import { instances, jobs } from './schema.ts';
import type { Statements } from './statements.ts';

export interface JobQueueReads {
  /**
   * Returns the first lane, or the next one after `after`, that has a waiting job of a kind, in the order of
   * environments and lanes. A lane is a group of jobs of which only a limited number run at the same time.
   */
  nextLane(kind: string, after: Omit<JobLane, 'kind'> | undefined): Promise<WaitingLane | undefined>;
  /** Returns the jobs of instances that have stopped. */
  abandoned(limit: number): Promise<JobRow[]>;
  /** Returns the jobs that an instance has taken and not ended. @param owner its number */
  owned(owner: number): Promise<JobRow[]>;
  /**
   * Counts up to `limit` jobs of a kind and state, and returns the earliest `runAt` of all of them. DONE jobs cannot be
   * counted.
   */
  tally(kind: string, state: Exclude<JobState, 'DONE'>, limit: number): Promise<JobTally>;
}

export interface JobQueueWrites {
  /** Takes due jobs of a lane, the longest overdue first. Each job is given to only one caller. */
  claim(claim: JobClaim): Promise<JobRow[]>;
  /**
   * Ends a job after a successful attempt and deletes its payload. @returns false if the attempt is no longer the
   * current one
   */
  done(attempt: JobAttempt, end: JobEnd): Promise<boolean>;
  /** Schedules the next attempt after a failure. @returns false if the attempt is no longer the current one */
  again(attempt: JobAttempt, next: { runAt: number; reason: string; at: number }): Promise<boolean>;
  /** Ends a job after its last attempt failed. @returns false if the attempt is no longer the current one */
  fail(attempt: JobAttempt, end: JobEnd): Promise<boolean>;
}

/** Queries over all environments. Only the job engine may use them. */
export type JobQueueRepository = JobQueueReads & JobQueueWrites;

const t = jobs;
/** Later than the time of any job. A literal, because drivers send numbers of this size in different ways. */
const LATEST = sql.raw(String(Number.MAX_SAFE_INTEGER));
const given = (name: string) => sql`${sql.placeholder(name)}`;
// A literal instead of a parameter, so that the database can use the partial indexes.
const waiting = sql`${t.state} = 'WAITING'`;
const running = sql`${t.state} = 'RUNNING'`;
const ofKind = eq(t.kind, sql.placeholder('kind'));
const current = and(
  eq(t.id, sql.placeholder('id')),
  running,
  eq(t.owner, sql.placeholder('owner')),
  eq(t.attempts, sql.placeholder('attempts')),
) as SQL;

export function createJobQueueRepository({ db, once, dialect }: Statements): JobQueueRepository {
  const lane = (condition: SQL | undefined) =>
    db
      .select({ kind: t.kind, environmentId: t.environmentId, lane: t.lane, runAt: t.runAt })
      .from(t)
      .where(and(waiting, ofKind, condition))
      .orderBy(asc(t.environmentId), asc(t.lane), asc(t.runAt))
      .limit(1)
      .prepare();
  const firstLane = once(() => lane(undefined));
  // The comparison includes the time, so that it covers every column of the index. Otherwise the database could read
  // all waiting jobs of the lane that is skipped: 5 ms for 100,000 jobs, once for each job that ends.
  const nextLane = once(() =>
    lane(
      sql`(${t.environmentId}, ${t.lane}, ${t.runAt}) > (${sql.placeholder('environmentId')}, ${sql.placeholder('lane')}, ${LATEST})`,
    ),
  );
  const abandoned = once(() =>
    db
      .select(JOB_COLUMNS)
      .from(t)
      // Instance numbers begin with 1, so every owner matches; the range condition lets the database use the index.
      .where(and(running, sql`${t.owner} > 0`, sql`${t.owner} not in (select ${instances.number} from ${instances})`))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const owned = once(() =>
    db
      .select(JOB_COLUMNS)
      .from(t)
      .where(and(running, eq(t.owner, sql.placeholder('owner'))))
      .prepare(),
  );
  const total = (where: SQL | undefined) => {
    const found = db
      .select({ one: sql<number>`1`.as('one') })
      .from(t)
      .where(where)
      .limit(sql.placeholder('limit'))
      .as('found');
    return db.select({ total: count() }).from(found).prepare();
  };
  const first = (where: SQL | undefined) =>
    db
      .select({ runAt: sql<number | null>`min(${t.runAt})` })
      .from(t)
      .where(where)
      .prepare();
  const tallyOf = (state: SQL) => {
    const where = and(ofKind, state, sql`${t.state} <> 'DONE'`);
    return { total: once(() => total(where)), first: once(() => first(where)) };
  };
  const tallies = {
    WAITING: tallyOf(waiting),
    RUNNING: tallyOf(running),
    FAILED: tallyOf(sql`${t.state} = 'FAILED'`),
  };
  const claimed = once(() => {
    const due = db
      .select({ id: t.id })
      .from(t)
      .where(
        and(
          waiting,
          ofKind,
          eq(t.environmentId, sql.placeholder('environmentId')),
          eq(t.lane, sql.placeholder('lane')),
          sql`${t.runAt} <= ${sql.placeholder('now')}`,
        ),
      )
      .orderBy(asc(t.runAt))
      .limit(sql.placeholder('limit'));
    return db
      .update(t)
      .set({ state: 'RUNNING', owner: given('owner'), attempts: sql`${t.attempts} + 1` })
      .where(sql`${t.id} in (${due.getSQL()} ${dialect.skipLocked})`)
      .returning(JOB_COLUMNS)
      .prepare();
  });
  const again = once(() =>
    db
      .update(t)
      .set({ state: 'WAITING', owner: null, runAt: given('runAt'), reason: given('reason'), updatedAt: given('at') })
      .where(current)
      .prepare(),
  );
  const done = once(() =>
    db
      .update(t)
      .set({
        state: 'DONE',
        owner: null,
        dataKey: null,
        kekId: null,
        payloadSealed: null,
        result: given('result'),
        reason: given('reason'),
        updatedAt: given('at'),
      })
      .where(current)
      .prepare(),
  );
  const fail = once(() =>
    db
      .update(t)
      .set({ state: 'FAILED', owner: null, reason: given('reason'), updatedAt: given('at') })
      .where(current)
      .prepare(),
  );

  return {
    async nextLane(kind, after) {
      return await (after ? nextLane().get({ kind, ...after }) : firstLane().get({ kind }));
    },
    async abandoned(limit) {
      return await abandoned().all({ limit });
    },
    owned: (owner) => owned().all({ owner }),
    async tally(kind, state, limit) {
      const { total, first } = tallies[state];
      const counted = (await total().get({ kind, limit }))?.total ?? 0;
      return { total: counted, firstRunAt: (await first().get({ kind }))?.runAt ?? null };
    },
    async claim(claim) {
      return await claimed().all({ ...claim });
    },
    async done(attempt, { at, result = null, reason = null }) {
      return (await done().run({ ...attempt, at, result, reason })).changes === 1;
    },
    async again(attempt, next) {
      return (await again().run({ ...attempt, ...next })).changes === 1;
    },
    async fail(attempt, { at, reason = null }) {
      return (await fail().run({ ...attempt, at, reason })).changes === 1;
    },
  };
}
