import { type Db, once } from './database.ts';
import { and, asc, eq, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { outbox } from './schema.ts';

/** Something that has to be done outside. WAITING until it is DONE, or FAILED for good; an end wipes the payload. */
export type OutboxRow = typeof outbox.$inferSelect;

export type NewOutboxEntry = Pick<OutboxRow, 'id' | 'kind' | 'subjectId' | 'nextAt' | 'giveUpAt' | 'createdAt'> & {
  kekId: string;
  payloadSealed: Buffer;
};

export interface OutboxReads {
  /** What waits and may be tried now, the longest overdue first. */
  due(environmentId: EnvironmentId, kind: string, now: number, limit: number): Promise<OutboxRow[]>;
  /** Everything about one subject, the oldest first. */
  list(environmentId: EnvironmentId, subjectId: string): Promise<OutboxRow[]>;
}

export interface OutboxWrites {
  insert(environmentId: EnvironmentId, entry: NewOutboxEntry): Promise<void>;
  /** It is done. @returns false when it does not wait any more */
  done(environmentId: EnvironmentId, id: string, at: number): Promise<boolean>;
  /** It failed and is to be tried again. @returns false when it does not wait any more */
  retry(
    environmentId: EnvironmentId,
    id: string,
    next: { nextAt: number; error: string; at: number },
  ): Promise<boolean>;
  /** It failed for good. @returns false when it does not wait any more */
  fail(environmentId: EnvironmentId, id: string, error: string, at: number): Promise<boolean>;
}

export type OutboxRepository = OutboxReads & OutboxWrites;

const t = outbox;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
// Literal, so that the partial index serves.
const waiting = sql`${t.state} = 'WAITING'`;
const oneEntry = and(eq(t.id, sql.placeholder('id')), withinEnvironment, waiting) as SQL;

export function createOutboxRepository(db: Db): OutboxRepository {
  const due = once(() => {
    const kind = eq(t.kind, sql.placeholder('kind'));
    return db
      .select()
      .from(t)
      .where(and(withinEnvironment, waiting, kind, lte(t.nextAt, sql.placeholder('now'))))
      .orderBy(asc(t.nextAt))
      .limit(sql.placeholder('limit'))
      .prepare();
  });
  const list = once(() =>
    db
      .select()
      .from(t)
      .where(and(withinEnvironment, eq(t.subjectId, sql.placeholder('subjectId'))))
      .orderBy(asc(t.id))
      .prepare(),
  );
  const end = once(() =>
    db
      .update(t)
      .set({
        state: sql`${sql.placeholder('state')}`,
        kekId: null,
        payloadSealed: null,
        attempts: sql`${t.attempts} + 1`,
        lastError: sql`${sql.placeholder('error')}`,
        updatedAt: sql`${sql.placeholder('at')}`,
      })
      .where(oneEntry)
      .prepare(),
  );
  const retry = once(() =>
    db
      .update(t)
      .set({
        attempts: sql`${t.attempts} + 1`,
        nextAt: sql`${sql.placeholder('nextAt')}`,
        lastError: sql`${sql.placeholder('error')}`,
        updatedAt: sql`${sql.placeholder('at')}`,
      })
      .where(oneEntry)
      .prepare(),
  );

  return {
    async due(environmentId, kind, now, limit) {
      return due().all({ environmentId, kind, now, limit });
    },
    async list(environmentId, subjectId) {
      return list().all({ environmentId, subjectId });
    },
    async insert(environmentId, entry) {
      const start = { state: 'WAITING' as const, attempts: 0, updatedAt: entry.createdAt };
      db.insert(t)
        .values({ ...entry, ...start, environmentId })
        .run();
    },
    async done(environmentId, id, at) {
      return end().run({ environmentId, id, at, state: 'DONE', error: null }).changes === 1;
    },
    async retry(environmentId, id, { nextAt, error, at }) {
      return retry().run({ environmentId, id, nextAt, error, at }).changes === 1;
    },
    async fail(environmentId, id, error, at) {
      return end().run({ environmentId, id, at, state: 'FAILED', error }).changes === 1;
    },
  };
}
