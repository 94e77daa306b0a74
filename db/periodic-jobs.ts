import { and, eq, sql } from './drizzle.ts';
import type { PeriodicJobRow } from './rows/periodic-jobs.ts';
import { instances, periodicJobs } from './schema.ts';
import type { Statements } from './statements.ts';

export interface PeriodicJobReads {
  list(): Promise<PeriodicJobRow[]>;
}

export interface PeriodicJobWrites {
  /** Adds a job if it does not exist. */
  add(name: string, nextAt: number): Promise<void>;
  /**
   * Takes a job that is due and that no other registered instance holds.
   *
   * @param holder the number of the instance that takes it; a job that it already holds is taken again
   * @param nextAt the time of the next run
   * @returns whether the instance may run the job now
   */
  take(name: string, holder: number, now: number, nextAt: number): Promise<boolean>;
  /** Ends a run, unless another instance holds the job by now. */
  release(name: string, holder: number): Promise<void>;
  /** Makes a job due at a time, unless it is due earlier. */
  hasten(name: string, nextAt: number): Promise<void>;
}

/** Queries for the whole deployment. Only the job engine may use them. */
export type PeriodicJobRepository = PeriodicJobReads & PeriodicJobWrites;

const t = periodicJobs;
const its = eq(t.name, sql.placeholder('name'));
const given = (name: string) => sql`${sql.placeholder(name)}`;

export function createPeriodicJobRepository({ db, once }: Statements): PeriodicJobRepository {
  const isFree = sql`(${t.holder} is null or ${t.holder} = ${sql.placeholder('holder')}
    or ${t.holder} not in (select ${instances.number} from ${instances}))`;
  const take = once(() =>
    db
      .update(t)
      .set({ holder: given('holder'), nextAt: given('nextAt') })
      .where(and(its, sql`${t.nextAt} <= ${sql.placeholder('now')}`, isFree))
      .prepare(),
  );
  const release = once(() =>
    db
      .update(t)
      .set({ holder: null })
      .where(and(its, eq(t.holder, sql.placeholder('holder'))))
      .prepare(),
  );
  const hasten = once(() =>
    db
      .update(t)
      .set({ nextAt: given('nextAt') })
      .where(and(its, sql`${t.nextAt} > ${sql.placeholder('nextAt')}`))
      .prepare(),
  );
  const all = once(() => db.select().from(t).prepare());
  return {
    async list() {
      return await all().all();
    },
    async add(name, nextAt) {
      await db.insert(t).values({ name, nextAt, holder: null }).onConflictDoNothing().run();
    },
    async take(name, holder, now, nextAt) {
      return (await take().run({ name, holder, now, nextAt })).changes === 1;
    },
    async release(name, holder) {
      await release().run({ name, holder });
    },
    async hasten(name, nextAt) {
      await hasten().run({ name, nextAt });
    },
  };
}
