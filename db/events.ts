import { conflictOf } from './columns.ts';
import { deleteOldest } from './delete-oldest.ts';
import { and, asc, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList, type Filter } from './keyset.ts';
import { countUpTo, placesOf } from './large-list.ts';
import type { Page, PageRequest } from './page.ts';
import type { EventFilters, EventRow, NewEvent } from './rows/events.ts';
import { environments, eventHeads, events } from './schema.ts';
import { environmentRange, environmentRangeAfter } from './sequence.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface EventReads {
  get(environmentId: EnvironmentId, id: string): Promise<EventRow | undefined>;
  list(environmentId: EnvironmentId, filters: EventFilters, page: PageRequest): Promise<Page<EventRow>>;
  /** Returns the events after a `seq`, the oldest first. */
  following(environmentId: EnvironmentId, after: number, limit: number): Promise<EventRow[]>;
  /** Returns the `seq` of the last event; 0 if there is none. */
  last(environmentId: EnvironmentId): Promise<number>;
}

export interface EventWrites {
  /** @returns the `seq` of the event */
  append(environmentId: EnvironmentId, event: NewEvent): Promise<number>;
  /** Removes the oldest events that were created before a time. @returns how many */
  sweep(environmentId: EnvironmentId, createdBefore: number, limit: number): Promise<number>;
}

export type EventRepository = EventReads & EventWrites;

const ENVIRONMENT = sql.placeholder('environmentId');
const oneEvent = and(eq(events.id, sql.placeholder('id')), eq(events.environmentId, ENVIRONMENT)) as SQL;

const FILTERS: Record<keyof EventFilters, Filter> = {
  // The indexes of the subject and the type begin with the environment. The list is limited to its environment by a
  // range of `seq`, so the environment must be a condition too.
  subjectId: (noIndex) =>
    sql`${noIndex}${events.environmentId} = ${ENVIRONMENT} and ${noIndex}${events.subjectId} = ${sql.placeholder('subjectId')}`,
  type: (noIndex) =>
    sql`${noIndex}${events.environmentId} = ${ENVIRONMENT} and ${noIndex}${events.type} = ${sql.placeholder('type')}`,
  createdFrom: (noIndex) => sql`${noIndex}${events.createdAt} >= ${sql.placeholder('createdFrom')}`,
  createdBefore: (noIndex) => sql`${noIndex}${events.createdAt} < ${sql.placeholder('createdBefore')}`,
};

export function createEventRepository(statements: Statements, pacing: Pacing): EventRepository {
  const { db, once, dialect } = statements;
  const get = once(() => db.select().from(events).where(oneEvent).prepare());
  const place = once(() => db.select({ seq: events.seq }).from(events).where(oneEvent).prepare());
  const following = once(() =>
    db
      .select()
      .from(events)
      .where(environmentRangeAfter(dialect, events.seq, sql.placeholder('after')))
      .orderBy(asc(events.seq))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const last = once(() =>
    db.select({ seq: eventHeads.seq }).from(eventHeads).where(eq(eventHeads.environmentId, ENVIRONMENT)).prepare(),
  );
  const next = once(() =>
    db
      .insert(eventHeads)
      // Bits 40 and above of a `seq` contain the number of its environment.
      .values({
        environmentId: ENVIRONMENT,
        seq: sql`(select (${environments.ordinal} << 40) + 1 from ${environments} where ${environments.id} = ${ENVIRONMENT})`,
      })
      .onConflictDoUpdate({
        target: conflictOf(eventHeads.environmentId),
        set: { seq: sql`${eventHeads.seq} + 1` },
      })
      .returning({ seq: eventHeads.seq })
      .prepare(),
  );
  const insert = once(() => {
    const names = ['seq', 'id', 'environmentId', 'type', 'subjectId', 'body', 'createdAt'];
    const values = Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]));
    return db
      .insert(events)
      .values(values as unknown as EventRow)
      .prepare();
  });
  const sweep = once(() =>
    deleteOldest(
      db,
      events,
      events.seq,
      and(eq(events.environmentId, ENVIRONMENT), sql`${events.createdAt} < ${sql.placeholder('before')}`),
      events.createdAt,
    ),
  );
  // `noIndex` prevents the use of an index that begins with the environment, because such an index has another order
  // than the list.
  const ofEnvironment = (where: SQL) =>
    and(where, sql`${dialect.noIndex}${events.environmentId} = ${ENVIRONMENT}`) as SQL;
  const list = createKeysetList<EventRow, keyof EventFilters>(statements, {
    order: events.seq,
    scope: environmentRange(events.seq),
    filters: FILTERS,
    select: (where, order) =>
      db.select().from(events).where(ofEnvironment(where)).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => countUpTo(db, events, ofEnvironment(where)),
    large: {
      // The index of the subject is used first, because a subject has few events.
      lead: async (names) => names.find((name) => name === 'subjectId' || name === 'type'),
      places: (where, order) => placesOf(db, events, events.seq, ofEnvironment(where), order),
      pacing,
    },
    placeOf: ({ seq }) => seq,
    placeOfCursor: async (environmentId, id) => (await place().get({ environmentId, id }))?.seq,
  });

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    list: (environmentId, filters, page) => list.page(environmentId, filters, page),
    following: (environmentId, after, limit) => following().all({ environmentId, after, limit }),
    async last(environmentId) {
      return (await last().get({ environmentId }))?.seq ?? 0;
    },
    async append(environmentId, event) {
      const { seq } = (await next().get({ environmentId })) as { seq: number };
      await insert().run({ ...event, environmentId, seq });
      return seq;
    },
    async sweep(environmentId, before, limit) {
      return (await sweep().run({ environmentId, before, limit })).changes;
    },
  };
}
