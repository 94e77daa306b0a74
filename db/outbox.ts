import { and, asc, eq, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList, type Filter } from './keyset.ts';
import { countUpTo, placesOf } from './large-list.ts';
import type { Page, PageRequest } from './page.ts';
import type { EndedOutboxEntry, NewOutboxEntry, OutboxEnd, OutboxFilters, OutboxRow } from './rows/outbox.ts';
import { outbox } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface OutboxReads {
  /** What waits and may be tried now, the longest overdue first. */
  due(environmentId: EnvironmentId, kind: string, now: number, limit: number): Promise<OutboxRow[]>;
  /** Everything about one subject, the oldest first. */
  list(environmentId: EnvironmentId, subjectId: string): Promise<OutboxRow[]>;
  /** A page of one kind, the newest first. */
  page(environmentId: EnvironmentId, filters: OutboxFilters, page: PageRequest): Promise<Page<OutboxRow>>;
}

export interface OutboxWrites {
  insert(environmentId: EnvironmentId, entry: NewOutboxEntry): Promise<void>;
  /** Writes down a failure that nothing was tried for. */
  insertFailed(environmentId: EnvironmentId, entry: EndedOutboxEntry): Promise<void>;
  /**
   * Takes an entry for some time, so that nobody else works on it meanwhile.
   *
   * @param seenAt its `nextAt` as it was read
   * @returns the entry, or undefined when somebody has been faster
   */
  claim(environmentId: EnvironmentId, id: string, seenAt: number, until: number): Promise<OutboxRow | undefined>;
  /** It is done. @returns false when it does not wait any more */
  done(environmentId: EnvironmentId, id: string, end: OutboxEnd): Promise<boolean>;
  /** It failed and is to be tried again. @returns false when it does not wait any more */
  retry(
    environmentId: EnvironmentId,
    id: string,
    next: { nextAt: number; error: string; at: number },
  ): Promise<boolean>;
  /** It failed for good. @returns false when it does not wait any more */
  fail(environmentId: EnvironmentId, id: string, error: string, at: number): Promise<boolean>;
  /** Removes some of what ended before a time, the oldest first. @returns how many */
  purge(environmentId: EnvironmentId, before: number, limit: number): Promise<number>;
}

export type OutboxRepository = OutboxReads & OutboxWrites;

const t = outbox;
const given = (name: string) => sql`${sql.placeholder(name)}`;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
// Literal, so that the partial indexes serve.
const waiting = sql`${t.state} = 'WAITING'`;
const ended = sql`${t.state} <> 'WAITING'`;
const oneEntry = and(eq(t.id, sql.placeholder('id')), withinEnvironment, waiting) as SQL;

const FILTERS: Record<keyof OutboxFilters, Filter> = {
  subjectId: (steer) => sql`${steer}${t.subjectId} = ${sql.placeholder('subjectId')}`,
  kind: () => sql`${t.kind} = ${sql.placeholder('kind')}`,
  state: () => sql`${t.state} = ${sql.placeholder('state')}`,
  result: () => sql`${t.result} = ${sql.placeholder('result')}`,
};

export function createOutboxRepository(statements: Statements, pacing: Pacing): OutboxRepository {
  const { db, once } = statements;
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
  const pages = createKeysetList<OutboxRow, keyof OutboxFilters>(statements, {
    order: t.id,
    scope: { all: withinEnvironment, older: withinEnvironment, newer: withinEnvironment },
    filters: FILTERS,
    select: (where, order) => db.select().from(t).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => countUpTo(db, t, where),
    large: {
      // A subject has few orders.
      lead: async ([first]) => first,
      places: (where, order) => placesOf(db, t, t.id, where, order),
      pacing,
    },
    placeOf: ({ id }) => id,
    // Ids are in the order of time, also that of an entry which is gone.
    placeOfCursor: async (_environmentId, id) => id,
  });
  const claim = once(() =>
    db
      .update(t)
      .set({ nextAt: given('until') })
      .where(and(oneEntry, eq(t.nextAt, sql.placeholder('seenAt'))))
      .returning()
      .prepare(),
  );
  const end = once(() =>
    db
      .update(t)
      .set({
        state: given('state'),
        result: given('result'),
        kekId: null,
        payloadSealed: null,
        attempts: sql`${t.attempts} + 1`,
        lastError: given('error'),
        updatedAt: given('at'),
      })
      .where(oneEntry)
      .prepare(),
  );
  const retry = once(() =>
    db
      .update(t)
      .set({
        attempts: sql`${t.attempts} + 1`,
        nextAt: given('nextAt'),
        lastError: given('error'),
        updatedAt: given('at'),
      })
      .where(oneEntry)
      .prepare(),
  );
  const purge = once(() => {
    const oldest = db
      .select({ id: t.id })
      .from(t)
      .where(and(withinEnvironment, ended, sql`${t.updatedAt} < ${sql.placeholder('before')}`))
      .orderBy(t.updatedAt)
      .limit(sql.placeholder('limit'));
    return db.delete(t).where(sql`${t.id} in ${oldest}`).prepare();
  });

  return {
    due: (environmentId, kind, now, limit) => due().all({ environmentId, kind, now, limit }),
    list: (environmentId, subjectId) => list().all({ environmentId, subjectId }),
    page: (environmentId, filters, page) => pages.page(environmentId, filters, page),
    async insert(environmentId, entry) {
      const start = { state: 'WAITING' as const, attempts: 0, updatedAt: entry.createdAt };
      await db
        .insert(t)
        .values({ ...entry, ...start, environmentId })
        .run();
    },
    async insertFailed(environmentId, { error: lastError, ...entry }) {
      const failed = { state: 'FAILED' as const, attempts: 0, updatedAt: entry.createdAt, lastError };
      await db
        .insert(t)
        .values({ ...entry, ...failed, environmentId })
        .run();
    },
    claim: (environmentId, id, seenAt, until) => claim().get({ environmentId, id, seenAt, until }),
    async done(environmentId, id, { at, result = null, error = null }) {
      return (await end().run({ environmentId, id, at, state: 'DONE', result, error })).changes === 1;
    },
    async retry(environmentId, id, { nextAt, error, at }) {
      return (await retry().run({ environmentId, id, nextAt, error, at })).changes === 1;
    },
    async fail(environmentId, id, error, at) {
      return (await end().run({ environmentId, id, at, state: 'FAILED', result: null, error })).changes === 1;
    },
    async purge(environmentId, before, limit) {
      return (await purge().run({ environmentId, before, limit })).changes;
    },
  };
}
