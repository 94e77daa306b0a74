import { deleteOldest } from './delete-oldest.ts';
import { and, asc, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList, type Filter } from './keyset.ts';
import { countUpTo, placesOf } from './large-list.ts';
import { orderedById } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type {
  NewWebhookDelivery,
  WebhookAttempt,
  WebhookDeliveryFilters,
  WebhookDeliveryRow,
  WebhookDeliveryState,
} from './rows/webhooks.ts';
import { webhookDeliveries } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface WebhookDeliveryReads {
  get(environmentId: EnvironmentId, id: string): Promise<WebhookDeliveryRow | undefined>;
  list(
    environmentId: EnvironmentId,
    filters: WebhookDeliveryFilters,
    page: PageRequest,
  ): Promise<Page<WebhookDeliveryRow>>;
  /** Whether an event of a subject is still waiting for delivery to an endpoint. */
  hasPending(environmentId: EnvironmentId, endpointId: string, subjectId: string): Promise<boolean>;
  /** Returns the first delivery that waits for an earlier one of its subject. */
  nextInOrder(
    environmentId: EnvironmentId,
    endpointId: string,
    subjectId: string,
  ): Promise<WebhookDeliveryRow | undefined>;
  /**
   * Returns up to `limit` ended deliveries of an endpoint, the oldest first: those after `afterId` that were created at
   * `createdFrom` or later and ended at `endedUntil` or earlier. It reads at most `slice` deliveries, whether they
   * match or not.
   *
   * @returns also the id after which the search continues; undefined at the end
   */
  ended(environmentId: EnvironmentId, range: EndedRange): Promise<{ rows: WebhookDeliveryRow[]; next?: string }>;
}

export interface EndedRange {
  endpointId: string;
  afterId: string;
  /** Milliseconds UTC. */
  createdFrom: number;
  endedUntil: number;
  limit: number;
  slice: number;
}

export interface WebhookDeliveryWrites {
  insert(environmentId: EnvironmentId, delivery: NewWebhookDelivery): Promise<void>;
  /**
   * Assigns a delivery to another job, and resets its number of attempts. @returns false if the delivery does not exist
   */
  assign(environmentId: EnvironmentId, id: string, to: { jobId: string; at: number }): Promise<boolean>;
  /**
   * Stores the result of an attempt.
   *
   * @returns false if the delivery is assigned to another job, or was deleted
   */
  record(environmentId: EnvironmentId, id: string, jobId: string, result: DeliveryResult): Promise<boolean>;
  /** Removes the oldest deliveries that were created before a time. @returns how many */
  sweep(environmentId: EnvironmentId, createdBefore: number, limit: number): Promise<number>;
}

export interface DeliveryResult {
  state: WebhookDeliveryState;
  attempts: number;
  nextAttemptAt: number | null;
  /** null to keep the stored attempt. */
  lastAttempt: WebhookAttempt | null;
  at: number;
}

export type WebhookDeliveryRepository = WebhookDeliveryReads & WebhookDeliveryWrites;

const t = webhookDeliveries;
const given = (name: string) => sql`${sql.placeholder(name)}`;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneDelivery = and(withinEnvironment, eq(t.id, sql.placeholder('id'))) as SQL;
// A literal instead of a parameter, so that the database can use the partial index.
const pending = sql`${t.state} = 'PENDING'`;
const pendingOfSubject = and(
  withinEnvironment,
  eq(t.endpointId, sql.placeholder('endpointId')),
  eq(t.subjectId, sql.placeholder('subjectId')),
  pending,
) as SQL;

const ofEndpointAfter = and(
  withinEnvironment,
  eq(t.endpointId, sql.placeholder('endpointId')),
  sql`${t.id} > ${sql.placeholder('afterId')}`,
) as SQL;
/** Sorts after every id. */
const AFTER_ALL_IDS = '~';

const FILTERS: Record<keyof WebhookDeliveryFilters, Filter> = {
  eventId: (noIndex) => sql`${noIndex}${t.eventId} = ${sql.placeholder('eventId')}`,
  endpointId: (noIndex) => sql`${noIndex}${t.endpointId} = ${sql.placeholder('endpointId')}`,
  eventType: (noIndex) => sql`${noIndex}${t.eventType} = ${sql.placeholder('eventType')}`,
  state: (noIndex) => sql`${noIndex}${t.state} = ${sql.placeholder('state')}`,
};

export function createWebhookDeliveryRepository(statements: Statements, pacing: Pacing): WebhookDeliveryRepository {
  const { db, once, dialect } = statements;
  const get = once(() => db.select().from(t).where(oneDelivery).prepare());
  const insert = once(() =>
    db
      .insert(t)
      .values({
        id: sql.placeholder('id'),
        environmentId: sql.placeholder('environmentId'),
        endpointId: sql.placeholder('endpointId'),
        eventId: sql.placeholder('eventId'),
        eventSeq: sql.placeholder('eventSeq'),
        eventType: sql.placeholder('eventType'),
        subjectId: sql.placeholder('subjectId'),
        state: 'PENDING',
        jobId: sql.placeholder('jobId'),
        attempts: 0,
        nextAttemptAt: sql.placeholder('nextAttemptAt'),
        lastAttempt: null,
        createdAt: sql.placeholder('createdAt'),
        updatedAt: sql.placeholder('createdAt'),
      })
      .prepare(),
  );
  const firstPending = once(() => db.select({ id: t.id }).from(t).where(pendingOfSubject).limit(1).prepare());
  const nextInOrder = once(() =>
    db
      .select()
      .from(t)
      .where(and(pendingOfSubject, sql`${t.jobId} is null`))
      .orderBy(asc(t.eventSeq))
      .limit(1)
      .prepare(),
  );
  const endOfSlice = once(() => placesOf<string>(db, t, t.id, ofEndpointAfter, asc(t.id)));
  const ended = once(() =>
    db
      .select()
      .from(t)
      .where(
        and(
          ofEndpointAfter,
          sql`${t.id} <= ${sql.placeholder('end')}`,
          sql`${t.state} <> 'PENDING'`,
          sql`${t.createdAt} >= ${sql.placeholder('createdFrom')}`,
          sql`${t.updatedAt} <= ${sql.placeholder('endedUntil')}`,
        ),
      )
      .orderBy(asc(t.id))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const assign = once(() =>
    db
      .update(t)
      .set({
        state: 'PENDING',
        jobId: given('jobId'),
        attempts: 0,
        nextAttemptAt: given('at'),
        updatedAt: given('at'),
      })
      .where(oneDelivery)
      .prepare(),
  );
  const record = once(() =>
    db
      .update(t)
      .set({
        state: given('state'),
        attempts: given('attempts'),
        nextAttemptAt: given('nextAttemptAt'),
        lastAttempt: sql`coalesce(${sql.placeholder('lastAttempt')}, ${t.lastAttempt})`,
        updatedAt: given('at'),
      })
      .where(and(oneDelivery, eq(t.jobId, sql.placeholder('jobId'))))
      .prepare(),
  );
  const sweep = once(() =>
    deleteOldest(db, t, t.id, and(withinEnvironment, sql`${t.createdAt} < ${sql.placeholder('before')}`), t.createdAt),
  );
  const listWithin = (scope: SQL) =>
    createKeysetList<WebhookDeliveryRow, keyof WebhookDeliveryFilters>(statements, {
      ...orderedById(t.id, scope),
      filters: FILTERS,
      select: (where, order) =>
        db.select().from(t).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
      count: (where) => countUpTo(db, t, where),
      large: {
        lead: async (names) => names.find((name) => name === 'eventId' || name === 'endpointId'),
        places: (where, order) => placesOf(db, t, t.id, where, order),
        pacing,
      },
    });
  const list = listWithin(withinEnvironment);
  // The indexes for an event and an endpoint do not begin with the environment. `noIndex` prevents the database from
  // using the index of the list, by environment and id, with which it would read all deliveries of the environment.
  const listOfOne = listWithin(sql`${dialect.noIndex}${t.environmentId} = ${sql.placeholder('environmentId')}`);

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    list(environmentId, filters, page) {
      const isOfOne = filters.eventId !== undefined || filters.endpointId !== undefined;
      return (isOfOne ? listOfOne : list).page(environmentId, filters, page);
    },
    async hasPending(environmentId, endpointId, subjectId) {
      return (await firstPending().get({ environmentId, endpointId, subjectId })) !== undefined;
    },
    nextInOrder: (environmentId, endpointId, subjectId) => nextInOrder().get({ environmentId, endpointId, subjectId }),
    async ended(environmentId, { slice, ...range }) {
      const values = { environmentId, ...range };
      const end = (await endOfSlice().get({ ...values, offset: slice - 1 }))?.place;
      const rows = await ended().all({ ...values, end: end ?? AFTER_ALL_IDS });
      const next = rows.length < range.limit ? end : rows.at(-1)?.id;
      return { rows, ...(next !== undefined && { next }) };
    },
    async insert(environmentId, delivery) {
      await insert().run({ ...delivery, environmentId });
    },
    async assign(environmentId, id, { jobId, at }) {
      return (await assign().run({ environmentId, id, jobId, at })).changes === 1;
    },
    async record(environmentId, id, jobId, { lastAttempt, ...result }) {
      const values = { ...result, environmentId, id, jobId, lastAttempt: lastAttempt && JSON.stringify(lastAttempt) };
      return (await record().run(values)).changes === 1;
    },
    async sweep(environmentId, before, limit) {
      return (await sweep().run({ environmentId, before, limit })).changes;
    },
  };
}
