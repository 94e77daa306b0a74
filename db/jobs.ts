import { type DataKeys, wrappedDataKeyIn } from './data-keys.ts';
import { and, asc, eq, getTableColumns, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList, type Filter } from './keyset.ts';
import { countUpTo, placesOf } from './large-list.ts';
import { orderedById } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type { FailedJob, JobFilters, JobRow, NewJob } from './rows/jobs.ts';
import { jobs } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface JobReads {
  get(environmentId: EnvironmentId, id: string): Promise<JobRow | undefined>;
  /** Returns all jobs of one subject, oldest first. */
  listBySubject(environmentId: EnvironmentId, subjectId: string): Promise<JobRow[]>;
  /** Returns a page of jobs of one kind, newest first. */
  page(environmentId: EnvironmentId, filters: JobFilters & { kind: string }, page: PageRequest): Promise<Page<JobRow>>;
  /** Returns a page of jobs of all kinds that are not DONE, newest first. */
  pageOpen(environmentId: EnvironmentId, filters: JobFilters, page: PageRequest): Promise<Page<JobRow>>;
}

export interface JobWrites {
  insert(environmentId: EnvironmentId, job: NewJob): Promise<void>;
  /** Inserts a job that cannot be attempted, as FAILED. */
  insertFailed(environmentId: EnvironmentId, job: FailedJob): Promise<void>;
  /**
   * Makes a failed job run again, as if it had not been attempted.
   *
   * @returns the job, or undefined if it has not failed or its payload was deleted
   */
  retry(
    environmentId: EnvironmentId,
    id: string,
    times: { runAt: number; giveUpAt: number; at: number },
  ): Promise<JobRow | undefined>;
  /** Deletes some of the jobs that ended before a time, the oldest first. @returns how many */
  purge(environmentId: EnvironmentId, before: number, limit: number): Promise<number>;
  /** Deletes the payloads of some jobs that failed before a time, the oldest first. @returns how many */
  wipe(environmentId: EnvironmentId, before: number, limit: number): Promise<number>;
}

export type JobRepository = JobReads & JobWrites;

const t = jobs;
const { dataKey, ...ownColumns } = getTableColumns(t);
/** The columns of a `JobRow`: the wrapped data key replaces the number of its slot. */
export const JOB_COLUMNS = { ...ownColumns, wrappedDataKey: wrappedDataKeyIn(dataKey) };
const given = (name: string) => sql`${sql.placeholder(name)}`;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneJob = and(eq(t.id, sql.placeholder('id')), withinEnvironment) as SQL;
// A literal instead of a parameter, so that the database can use the partial indexes.
const failed = sql`${t.state} = 'FAILED' and ${t.payloadSealed} is not null`;
const ended = sql`${t.state} in ('DONE', 'FAILED')`;
const open = and(withinEnvironment, sql`${t.state} <> 'DONE'`) as SQL;

const FILTERS: Record<keyof JobFilters, Filter> = {
  subjectId: (noIndex) => sql`${noIndex}${t.subjectId} = ${sql.placeholder('subjectId')}`,
  kind: (noIndex) => sql`${noIndex}${t.kind} = ${sql.placeholder('kind')}`,
  state: (noIndex) => sql`${noIndex}${t.state} = ${sql.placeholder('state')}`,
  result: (noIndex) => sql`${noIndex}${t.result} = ${sql.placeholder('result')}`,
  isPending: (noIndex) => sql`${noIndex}${t.state} in ('WAITING', 'RUNNING')`,
};

export function createJobRepository(statements: Statements, dataKeys: DataKeys, pacing: Pacing): JobRepository {
  const { db, once } = statements;
  const get = once(() => db.select(JOB_COLUMNS).from(t).where(oneJob).prepare());
  const listBySubject = once(() =>
    db
      .select(JOB_COLUMNS)
      .from(t)
      .where(and(withinEnvironment, eq(t.subjectId, sql.placeholder('subjectId'))))
      .orderBy(asc(t.id))
      .prepare(),
  );
  const list = (scope: SQL, lead: (names: (keyof JobFilters)[]) => keyof JobFilters | undefined) =>
    createKeysetList<JobRow, keyof JobFilters>(statements, {
      ...orderedById(t.id, scope),
      filters: FILTERS,
      select: (where, order) =>
        db.select(JOB_COLUMNS).from(t).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
      count: (where) => countUpTo(db, t, where),
      large: {
        lead: async (names) => lead(names),
        places: (where, order) => placesOf(db, t, t.id, where, order),
        pacing,
      },
    });
  // A subject has few jobs, so its filter is used first.
  const ofKind = list(withinEnvironment, ([first]) => first);
  const opened = list(open, () => undefined);
  const insert = once(() =>
    db
      .insert(t)
      .values({
        id: sql.placeholder('id'),
        environmentId: sql.placeholder('environmentId'),
        kind: sql.placeholder('kind'),
        lane: sql.placeholder('lane'),
        subjectId: sql.placeholder('subjectId'),
        kekId: sql.placeholder('kekId'),
        dataKey: sql.placeholder('dataKey'),
        payloadSealed: sql.placeholder('payloadSealed'),
        state: 'WAITING',
        attempts: 0,
        runAt: sql.placeholder('runAt'),
        giveUpAt: sql.placeholder('giveUpAt'),
        createdAt: sql.placeholder('createdAt'),
        updatedAt: sql.placeholder('createdAt'),
      })
      .prepare(),
  );
  const retry = once(() =>
    db
      .update(t)
      .set({
        state: 'WAITING',
        attempts: 0,
        runAt: given('runAt'),
        giveUpAt: given('giveUpAt'),
        updatedAt: given('at'),
      })
      .where(and(oneJob, failed))
      .returning(JOB_COLUMNS)
      .prepare(),
  );
  const oldest = (condition: SQL) =>
    db
      .select({ id: t.id })
      .from(t)
      .where(and(withinEnvironment, condition, sql`${t.updatedAt} < ${sql.placeholder('before')}`))
      .orderBy(t.updatedAt)
      .limit(sql.placeholder('limit'));
  const purge = once(() =>
    db
      .delete(t)
      .where(sql`${t.id} in ${oldest(ended)}`)
      .prepare(),
  );
  const wipe = once(() =>
    db
      .update(t)
      .set({ dataKey: null, kekId: null, payloadSealed: null })
      .where(sql`${t.id} in ${oldest(failed)}`)
      .prepare(),
  );

  return {
    async get(environmentId, id) {
      return await get().get({ environmentId, id });
    },
    async listBySubject(environmentId, subjectId) {
      return await listBySubject().all({ environmentId, subjectId });
    },
    async page(environmentId, filters, page) {
      return await ofKind.page(environmentId, filters, page);
    },
    async pageOpen(environmentId, filters, page) {
      return await opened.page(environmentId, filters, page);
    },
    async insert(environmentId, { wrappedDataKey, ...job }) {
      const dataKey = await dataKeys.add(wrappedDataKey);
      await insert().run({ ...job, environmentId, dataKey });
    },
    async insertFailed(environmentId, job) {
      const end = { state: 'FAILED' as const, attempts: 0, runAt: job.createdAt, updatedAt: job.createdAt };
      await db
        .insert(t)
        .values({ ...job, ...end, environmentId })
        .run();
    },
    async retry(environmentId, id, times) {
      return await retry().get({ environmentId, id, ...times });
    },
    async purge(environmentId, before, limit) {
      return (await purge().run({ environmentId, before, limit })).changes;
    },
    async wipe(environmentId, before, limit) {
      return (await wipe().run({ environmentId, before, limit })).changes;
    },
  };
}
