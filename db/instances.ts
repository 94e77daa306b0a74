import { and, eq, gt, isNotNull, ne, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { IdempotencyKeyName } from './rows/idempotency-keys.ts';
import type { InstanceRow, NewInstance } from './rows/instances.ts';
import { executions, idempotencyKeys, instances } from './schema.ts';
import type { Statements } from './statements.ts';

export interface ClaimedKey extends IdempotencyKeyName {
  environmentId: EnvironmentId;
  executionId: string;
}

export interface InstanceReads {
  list(): Promise<InstanceRow[]>;
  /** Whether the instance with this number has not been removed. */
  isRegistered(number: number): Promise<boolean>;
  /** Returns the executions that an instance has started and whose end is not recorded. */
  unfinished(number: number): Promise<{ environmentId: EnvironmentId; id: string }[]>;
  /** Returns the idempotency keys that an instance has claimed for executions and that have no response yet. */
  claimedKeys(number: number): Promise<ClaimedKey[]>;
}

export interface InstanceWrites {
  /** @returns the number that identifies the instance in rows; numbers are never reused */
  register(instance: NewInstance): Promise<number>;
  /**
   * Records that the instance was running at a time, and which key-encryption keys it has. @returns false if the
   * instance has been removed
   *
   * @param at milliseconds UTC; not used if `Dialect.clock` is the clock of the database
   */
  beat(number: number, at: number, keys?: readonly string[]): Promise<boolean>;
  remove(number: number): Promise<void>;
  /** Removes all instances but one, for databases that only one instance can serve. */
  removeOthers(number: number): Promise<void>;
  /** Removes instances that have not reported for this many milliseconds. @returns how many */
  removeSilent(now: number, silentMs: number): Promise<number>;
}

export type InstanceRepository = InstanceReads & InstanceWrites;

/** @param schemaNumber the number of the newest migration that this program knows */
export function createInstanceRepository({ db, once, dialect }: Statements, schemaNumber: number): InstanceRepository {
  const its = eq(instances.number, sql.placeholder('number'));
  // Matches every row, and lets the database read the table through its index. The PostgreSQL engine disables
  // sequential scans in units of work, which gives a scan a very high cost. PostgreSQL compiles statements with a high
  // cost to machine code, which would take 100 ms for each heartbeat.
  const isAny = gt(instances.number, 0);
  const one = once(() => db.select({ number: instances.number }).from(instances).where(its).prepare());
  const unfinished = once(() =>
    db
      .select({ environmentId: executions.environmentId, id: executions.id })
      .from(executions)
      .where(and(sql`${executions.status} = 'STARTED'`, eq(executions.instance, sql.placeholder('number'))))
      .prepare(),
  );
  const { environmentId, clientId, route, keyDigest, executionId } = idempotencyKeys;
  const claimedKeys = once(() =>
    db
      .select({ environmentId, clientId, route, keyDigest, executionId })
      .from(idempotencyKeys)
      .where(
        and(
          sql`${idempotencyKeys.state} = 'RUNNING'`,
          isNotNull(executionId),
          eq(idempotencyKeys.instance, sql.placeholder('number')),
        ),
      )
      .prepare(),
  );
  const beat = once(() =>
    db
      .update(instances)
      .set({ beatAt: dialect.clock(sql.placeholder('at')), keys: sql`${sql.placeholder('keys')}` })
      .where(its)
      .prepare(),
  );
  const removeOthers = once(() =>
    db
      .delete(instances)
      .where(and(isAny, ne(instances.number, sql.placeholder('number'))))
      .prepare(),
  );
  const clock = dialect.clock(sql.placeholder('now'));
  const isSilent = sql`${instances.beatAt} < ${clock} - ${sql.placeholder('silentMs')}`;
  const removeSilent = once(() => db.delete(instances).where(and(isAny, isSilent)).prepare());
  return {
    list: () => db.select().from(instances).orderBy(instances.number).all(),
    async isRegistered(number) {
      return (await one().get({ number })) !== undefined;
    },
    async unfinished(number) {
      return (await unfinished().all({ number })) as { environmentId: EnvironmentId; id: string }[];
    },
    async claimedKeys(number) {
      return (await claimedKeys().all({ number })) as ClaimedKey[];
    },
    async register(instance) {
      const { startedAt, beatAt } = instance;
      const times = { startedAt: dialect.clock(sql`${startedAt}`), beatAt: dialect.clock(sql`${beatAt}`) };
      const row = { ...instance, ...times, schemaNumber };
      return (await db.insert(instances).values(row).returning({ number: instances.number }).get()).number;
    },
    async beat(number, at, keys = []) {
      return (await beat().run({ number, at, keys: JSON.stringify(keys) })).changes === 1;
    },
    async remove(number) {
      await db.delete(instances).where(eq(instances.number, number)).run();
    },
    async removeOthers(number) {
      await removeOthers().run({ number });
    },
    async removeSilent(now, silentMs) {
      return (await removeSilent().run({ now, silentMs })).changes;
    },
  };
}
