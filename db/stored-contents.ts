import { type DataKeys, wrappedDataKeyIn } from './data-keys.ts';
import { type DeletionLimits, firstBatch } from './deletion-limits.ts';
import { and, eq, getTableColumns, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { NewStoredContent, StoredContentFacts, StoredContentRow } from './rows/stored-contents.ts';
import { storedContents } from './schema.ts';
import type { Statements } from './statements.ts';

export interface StoredContentReads {
  /** Returns undefined also for expired contents. */
  get(
    environmentId: EnvironmentId,
    kind: StoredContentRow['kind'],
    id: string,
    now: number,
  ): Promise<StoredContentRow | undefined>;
  /** Returns what is known of the contents without their bytes; undefined also for expired contents. */
  describe(
    environmentId: EnvironmentId,
    kind: StoredContentRow['kind'],
    id: string,
    now: number,
  ): Promise<StoredContentFacts | undefined>;
  /** Returns how many bytes of one kind the environment stores. */
  total(environmentId: EnvironmentId, kind: StoredContentRow['kind']): Promise<number>;
}

export interface StoredContentWrites {
  insert(environmentId: EnvironmentId, content: NewStoredContent): Promise<void>;
  /** Deletes a batch of the expired contents, the oldest first. @returns how many */
  sweep(environmentId: EnvironmentId, now: number, limits: DeletionLimits): Promise<number>;
  /**
   * Deletes a batch of the contents of one kind that were stored at `until` or before, the oldest first. @returns how
   * many
   */
  sweepStoredBefore(
    environmentId: EnvironmentId,
    kind: StoredContentRow['kind'],
    until: number,
    limits: DeletionLimits,
  ): Promise<number>;
}

export type StoredContentRepository = StoredContentReads & StoredContentWrites;

const { dataKey, ...ownColumns } = getTableColumns(storedContents);
const columns = { ...ownColumns, wrappedDataKey: wrappedDataKeyIn(dataKey) as SQL<Buffer> };
const ENVIRONMENT = sql.placeholder('environmentId');
const alive = and(
  eq(storedContents.id, sql.placeholder('id')),
  eq(storedContents.environmentId, ENVIRONMENT),
  eq(storedContents.kind, sql.placeholder('kind')),
  sql`${storedContents.expiresAt} > ${sql.placeholder('now')}`,
) as SQL;

export function createStoredContentRepository({ db, once }: Statements, dataKeys: DataKeys): StoredContentRepository {
  const get = once(() => db.select(columns).from(storedContents).where(alive).prepare());
  const describe = once(() =>
    db
      .select({
        id: storedContents.id,
        environmentId: storedContents.environmentId,
        kind: storedContents.kind,
        accountId: storedContents.accountId,
        organizationId: storedContents.organizationId,
        userId: storedContents.userId,
        size: storedContents.size,
        createdAt: storedContents.createdAt,
        expiresAt: storedContents.expiresAt,
      })
      .from(storedContents)
      .where(alive)
      .prepare(),
  );
  const total = once(() =>
    db
      .select({ total: sql<number>`coalesce(sum(${storedContents.size}), 0)` })
      .from(storedContents)
      .where(and(eq(storedContents.environmentId, ENVIRONMENT), eq(storedContents.kind, sql.placeholder('kind'))))
      .prepare(),
  );
  const expired = once(() =>
    db
      .select({ id: storedContents.id, bytes: storedContents.size })
      .from(storedContents)
      .where(and(eq(storedContents.environmentId, ENVIRONMENT), lte(storedContents.expiresAt, sql.placeholder('now'))))
      .orderBy(storedContents.expiresAt)
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const storedBefore = once(() =>
    db
      .select({ id: storedContents.id, bytes: storedContents.size })
      .from(storedContents)
      .where(
        and(
          eq(storedContents.environmentId, ENVIRONMENT),
          eq(storedContents.kind, sql.placeholder('kind')),
          lte(storedContents.createdAt, sql.placeholder('until')),
        ),
      )
      .orderBy(storedContents.createdAt)
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const remove = once(() =>
    db
      .delete(storedContents)
      .where(and(eq(storedContents.id, sql.placeholder('id')), eq(storedContents.environmentId, ENVIRONMENT)))
      .prepare(),
  );
  async function removeBatch(
    environmentId: EnvironmentId,
    rows: readonly { id: string; bytes: number }[],
    { bytes }: DeletionLimits,
  ): Promise<number> {
    const contents = firstBatch(rows, bytes);
    for (const { id } of contents) await remove().run({ environmentId, id });
    return contents.length;
  }
  return {
    get: (environmentId, kind, id, now) => get().get({ environmentId, kind, id, now }),
    describe: (environmentId, kind, id, now) => describe().get({ environmentId, kind, id, now }),
    async total(environmentId, kind) {
      return (await total().get({ environmentId, kind }))?.total ?? 0;
    },
    async insert(environmentId, { wrappedDataKey, ...content }) {
      const dataKey = await dataKeys.add(wrappedDataKey);
      await db
        .insert(storedContents)
        .values({ ...content, dataKey, environmentId })
        .run();
    },
    async sweep(environmentId, now, limits) {
      return removeBatch(environmentId, await expired().all({ environmentId, now, limit: limits.rows }), limits);
    },
    async sweepStoredBefore(environmentId, kind, until, limits) {
      const old = await storedBefore().all({ environmentId, kind, until, limit: limits.rows });
      return removeBatch(environmentId, old, limits);
    },
  };
}
