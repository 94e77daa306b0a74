import { conflictOf } from './columns.ts';
import { type DeletionLimits, firstBatch } from './deletion-limits.ts';
import { and, eq, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type {
  IdempotencyClaim,
  IdempotencyKeyName,
  IdempotencyKeyRow,
  IdempotencyReply,
  NewIdempotencyKey,
} from './rows/idempotency-keys.ts';
import { idempotencyBytes, idempotencyKeys, instances } from './schema.ts';
import type { Statements } from './statements.ts';

export interface IdempotencyKeyReads {
  get(environmentId: EnvironmentId, name: IdempotencyKeyName): Promise<IdempotencyKeyRow | undefined>;
  /** Returns the storage of a client's keys in bytes: 256 for each, plus the stored responses. */
  keptBytes(environmentId: EnvironmentId, clientId: string): Promise<number>;
}

export interface IdempotencyKeyWrites {
  /**
   * Inserts the key as RUNNING, or returns the existing row. A row that has expired by the `createdAt` of the key is
   * replaced.
   */
  claim(environmentId: EnvironmentId, key: NewIdempotencyKey): Promise<IdempotencyClaim>;
  /** Stores the response for retries. @returns false if the key is not RUNNING */
  complete(environmentId: EnvironmentId, name: IdempotencyKeyName, reply: IdempotencyReply): Promise<boolean>;
  /** Stores the response for retries, in the unit of work that has claimed the key. */
  completeClaimed(environmentId: EnvironmentId, key: NewIdempotencyKey, reply: IdempotencyReply): Promise<void>;
  /** Frees a key that is RUNNING, after a request that had no effect. */
  release(environmentId: EnvironmentId, name: IdempotencyKeyName): Promise<boolean>;
  /**
   * Removes the instance from a RUNNING key for which no response will be stored. From then on, the key is treated like
   * a key of a stopped process.
   */
  disown(environmentId: EnvironmentId, name: IdempotencyKeyName): Promise<boolean>;
  /** Releases the RUNNING keys of stopped instances, except keys that belong to an execution. @returns how many */
  releaseAbandoned(environmentId: EnvironmentId): Promise<number>;
  /** Deletes a batch of the expired keys, the oldest first. @returns how many */
  sweep(environmentId: EnvironmentId, now: number, limits: DeletionLimits): Promise<number>;
}

export type IdempotencyKeyRepository = IdempotencyKeyReads & IdempotencyKeyWrites;

const t = idempotencyKeys;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneKey = and(
  withinEnvironment,
  eq(t.clientId, sql.placeholder('clientId')),
  eq(t.route, sql.placeholder('route')),
  eq(t.keyDigest, sql.placeholder('keyDigest')),
) as SQL;
// A literal instead of a parameter, so that the database can use the partial index.
const running = sql`${t.state} = 'RUNNING'`;
/** The numbers of instances begin with 1. */
const NO_INSTANCE = 0;
const { environmentId: _environmentId, ...columns } = {
  environmentId: t.environmentId,
  clientId: t.clientId,
  route: t.route,
  keyDigest: t.keyDigest,
  requestDigest: t.requestDigest,
  state: t.state,
  status: t.status,
  sealedReply: t.sealedReply,
  executionId: t.executionId,
  instance: t.instance,
  createdAt: t.createdAt,
  expiresAt: t.expiresAt,
};

export function createIdempotencyKeyRepository({ db, once }: Statements): IdempotencyKeyRepository {
  const get = once(() => db.select(columns).from(t).where(oneKey).prepare());
  const dropExpired = once(() =>
    db
      .delete(t)
      .where(and(oneKey, lte(t.expiresAt, sql.placeholder('now'))))
      .prepare(),
  );
  const claimed = {
    environmentId: sql.placeholder('environmentId'),
    clientId: sql.placeholder('clientId'),
    route: sql.placeholder('route'),
    keyDigest: sql.placeholder('keyDigest'),
    requestDigest: sql.placeholder('requestDigest'),
    executionId: sql.placeholder('executionId'),
    instance: sql.placeholder('instance'),
    createdAt: sql.placeholder('createdAt'),
    expiresAt: sql.placeholder('expiresAt'),
  };
  const insert = once(() =>
    db
      .insert(t)
      .values({ ...claimed, state: 'RUNNING' })
      .onConflictDoNothing()
      .prepare(),
  );
  const reply = {
    state: 'DONE' as const,
    status: sql`${sql.placeholder('status')}`,
    sealedReply: sql`${sql.placeholder('sealedReply')}`,
  };
  const complete = once(() => db.update(t).set(reply).where(and(oneKey, running)).prepare());
  const completeClaimed = once(() =>
    db
      .insert(t)
      .values({ ...claimed, ...reply })
      .onConflictDoUpdate({
        target: conflictOf(t.environmentId, t.clientId, t.route, t.keyDigest),
        set: { state: sql`excluded.state`, status: sql`excluded.status`, sealedReply: sql`excluded.sealed_reply` },
      })
      .prepare(),
  );
  const release = once(() => db.delete(t).where(and(oneKey, running)).prepare());
  const disown = once(() => db.update(t).set({ instance: NO_INSTANCE }).where(and(oneKey, running)).prepare());
  const releaseAbandoned = once(() =>
    db
      .delete(t)
      .where(
        and(
          withinEnvironment,
          running,
          sql`${t.executionId} is null and ${t.instance} not in (select ${instances.number} from ${instances})`,
        ),
      )
      .prepare(),
  );
  const expired = once(() =>
    db
      .select({
        clientId: t.clientId,
        route: t.route,
        keyDigest: t.keyDigest,
        bytes: sql<number>`coalesce(length(${t.sealedReply}), 0)`,
      })
      .from(t)
      .where(and(withinEnvironment, lte(t.expiresAt, sql.placeholder('now'))))
      .orderBy(t.expiresAt)
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const remove = once(() => db.delete(t).where(oneKey).prepare());
  const kept = once(() =>
    db
      .select({ bytes: sql<number>`coalesce(sum(${idempotencyBytes.bytes}), 0)` })
      .from(idempotencyBytes)
      .where(
        and(
          eq(idempotencyBytes.environmentId, sql.placeholder('environmentId')),
          eq(idempotencyBytes.clientId, sql.placeholder('clientId')),
        ),
      )
      .prepare(),
  );

  return {
    get: (environmentId, name) => get().get({ ...name, environmentId }),
    async keptBytes(environmentId, clientId) {
      return (await kept().get({ environmentId, clientId }))?.bytes ?? 0;
    },
    async claim(environmentId, key) {
      const values = { executionId: null, ...key, environmentId };
      // The insertion comes first, because a search for the key would conflict with insertions of neighbouring keys.
      if ((await insert().run(values)).changes === 1) return { state: 'NEW' };
      const { changes } = await dropExpired().run({ ...values, now: key.createdAt });
      if (changes === 1 && (await insert().run(values)).changes === 1) return { state: 'NEW' };
      return { state: 'EXISTING', row: (await get().get(values)) as IdempotencyKeyRow };
    },
    async complete(environmentId, name, { status, sealedReply }) {
      return (await complete().run({ ...name, environmentId, status, sealedReply })).changes === 1;
    },
    async completeClaimed(environmentId, key, reply) {
      // The unit has already inserted the claim, so this insertion updates that row. An update would search for the
      // key, which would conflict with the claims of other units.
      await completeClaimed().run({ executionId: null, ...key, environmentId, ...reply });
    },
    async release(environmentId, name) {
      return (await release().run({ ...name, environmentId })).changes === 1;
    },
    async disown(environmentId, name) {
      return (await disown().run({ ...name, environmentId })).changes === 1;
    },
    async releaseAbandoned(environmentId) {
      return (await releaseAbandoned().run({ environmentId })).changes;
    },
    async sweep(environmentId, now, { rows, bytes }) {
      const keys = firstBatch(await expired().all({ environmentId, now, limit: rows }), bytes);
      for (const key of keys) await remove().run({ ...key, environmentId });
      return keys.length;
    },
  };
}
