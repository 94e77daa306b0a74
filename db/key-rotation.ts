import { type Db, once } from './database.ts';
import { and, asc, count, eq, gt, isNotNull, sql } from './drizzle.ts';
import { accounts, connections } from './schema.ts';

/** What is needed to wrap an account's data key anew. */
export type WrappedKeyRow = Pick<
  typeof accounts.$inferSelect,
  'seq' | 'id' | 'environmentId' | 'credentialGeneration' | 'origins'
> & { wrappedDataKey: Buffer; kekId: string };

export type SealedConnectionSecretRow = Pick<typeof connections.$inferSelect, 'id' | 'environmentId'> & {
  clientSecretSealed: Buffer;
};

export interface KeyRotationReads {
  /** The accounts under a key-encryption key from oldest to newest, those after a `seq` (0 for the first page). */
  listByKek(kekId: string, afterSeq: number, limit: number): Promise<WrappedKeyRow[]>;
  countByKek(kekId: string): Promise<number>;
  /** The connections with a sealed client secret in the order of their ids, those after an id ('' for the first page). */
  listConnectionSecrets(afterId: string, limit: number): Promise<SealedConnectionSecretRow[]>;
}

export interface KeyRotationWrites {
  /** Replaces a wrapped key that is still the old one. It is no change of the account: its version stays. */
  setWrappedKey(id: string, old: Buffer, by: { wrappedDataKey: Buffer; kekId: string }): Promise<boolean>;
  setConnectionSecret(id: string, old: Buffer, sealed: Buffer): Promise<boolean>;
}

/** Over all environments: a key-encryption key belongs to the deployment. Nothing else may use these. */
export type KeyRotationRepository = KeyRotationReads & KeyRotationWrites;

export function createKeyRotationRepository(db: Db): KeyRotationRepository {
  const listByKek = once(() =>
    db
      .select({
        seq: accounts.seq,
        id: accounts.id,
        environmentId: accounts.environmentId,
        credentialGeneration: accounts.credentialGeneration,
        origins: accounts.origins,
        wrappedDataKey: accounts.wrappedDataKey,
        kekId: accounts.kekId,
      })
      .from(accounts)
      .where(and(eq(accounts.kekId, sql.placeholder('kekId')), gt(accounts.seq, sql.placeholder('afterSeq'))))
      .orderBy(asc(accounts.seq))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const setWrappedKey = once(() =>
    db
      .update(accounts)
      .set({
        wrappedDataKey: sql`${sql.placeholder('wrappedDataKey')}`,
        kekId: sql`${sql.placeholder('kekId')}`,
      })
      .where(and(eq(accounts.id, sql.placeholder('id')), eq(accounts.wrappedDataKey, sql.placeholder('old'))))
      .prepare(),
  );

  return {
    async listByKek(kekId, afterSeq, limit) {
      return listByKek().all({ kekId, afterSeq, limit }) as WrappedKeyRow[];
    },
    async countByKek(kekId) {
      return db.select({ total: count() }).from(accounts).where(eq(accounts.kekId, kekId)).get()?.total ?? 0;
    },
    async listConnectionSecrets(afterId, limit) {
      return db
        .select({
          id: connections.id,
          environmentId: connections.environmentId,
          clientSecretSealed: connections.clientSecretSealed,
        })
        .from(connections)
        .where(and(isNotNull(connections.clientSecretSealed), gt(connections.id, afterId)))
        .orderBy(asc(connections.id))
        .limit(limit)
        .all() as SealedConnectionSecretRow[];
    },
    async setWrappedKey(id, old, { wrappedDataKey, kekId }) {
      return setWrappedKey().run({ id, old, wrappedDataKey, kekId }).changes === 1;
    },
    async setConnectionSecret(id, old, sealed) {
      const unchanged = and(eq(connections.id, id), eq(connections.clientSecretSealed, old));
      return db.update(connections).set({ clientSecretSealed: sealed }).where(unchanged).run().changes === 1;
    },
  };
}
