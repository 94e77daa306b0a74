import { and, asc, count, eq, gt, isNotNull, sql } from './drizzle.ts';
import type { SealedConnectionSecretRow, SealedWaitingRow, WrappedKeyRow } from './rows/key-rotation.ts';
import { accounts, authRequests, connections, jobs, storedContents } from './schema.ts';
import type { Statements } from './statements.ts';

export interface KeyRotationReads {
  /** Returns the accounts under a key-encryption key after a `seq` (0 for the first page), oldest first. */
  listByKek(kekId: string, afterSeq: number, limit: number): Promise<WrappedKeyRow[]>;
  /** Returns how many rows of all tables name a key-encryption key. */
  countByKek(kekId: string): Promise<number>;
  /** Returns all other data keys and payloads under a key in one list, because there are few. */
  listWaiting(kekId: string): Promise<SealedWaitingRow[]>;
  /** Returns the connections with an encrypted client secret after an id ('' for the first page), sorted by id. */
  listConnectionSecrets(afterId: string, limit: number): Promise<SealedConnectionSecretRow[]>;
}

export interface KeyRotationWrites {
  /** Replaces a wrapped key if it is unchanged. This does not change the account: its version stays the same. */
  setWrappedKey(id: string, old: Buffer, by: { wrappedDataKey: Buffer; kekId: string }): Promise<boolean>;
  setConnectionSecret(id: string, old: Buffer, sealed: Buffer): Promise<boolean>;
  setWaiting(row: SealedWaitingRow, by: { sealed: Buffer; kekId: string }): Promise<boolean>;
}

/**
 * Queries over all environments, because a key-encryption key belongs to the deployment. Only the key rotation may use
 * them.
 */
export type KeyRotationRepository = KeyRotationReads & KeyRotationWrites;

export function createKeyRotationRepository({ db, once }: Statements): KeyRotationRepository {
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
      return (await listByKek().all({ kekId, afterSeq, limit })) as WrappedKeyRow[];
    },
    async countByKek(kekId) {
      let total = 0;
      for (const table of [accounts, authRequests, jobs, storedContents]) {
        const row = await db.select({ total: count() }).from(table).where(eq(table.kekId, kekId)).get();
        total += row?.total ?? 0;
      }
      return total;
    },
    async listWaiting(kekId) {
      const requests = await db
        .select({ id: authRequests.id, environmentId: authRequests.environmentId, sealed: authRequests.wrappedDataKey })
        .from(authRequests)
        .where(eq(authRequests.kekId, kekId))
        .all();
      const entries = await db
        .select({ id: jobs.id, environmentId: jobs.environmentId, sealed: jobs.payloadSealed })
        .from(jobs)
        .where(eq(jobs.kekId, kekId))
        .all();
      const contents = await db
        .select({
          id: storedContents.id,
          environmentId: storedContents.environmentId,
          sealed: storedContents.wrappedDataKey,
        })
        .from(storedContents)
        .where(eq(storedContents.kekId, kekId))
        .all();
      return [
        ...contents.map((row) => ({ ...row, table: 'stored_contents' }) as SealedWaitingRow),
        ...requests.map((row) => ({ ...row, table: 'auth_requests' }) as SealedWaitingRow),
        ...entries.map((row) => ({ ...row, table: 'jobs' }) as SealedWaitingRow),
      ];
    },
    async listConnectionSecrets(afterId, limit) {
      const rows = await db
        .select({
          id: connections.id,
          environmentId: connections.environmentId,
          clientGeneration: connections.clientGeneration,
          clientBinding: connections.clientBinding,
          clientSecretSealed: connections.clientSecretSealed,
        })
        .from(connections)
        .where(and(isNotNull(connections.clientSecretSealed), gt(connections.id, afterId)))
        .orderBy(asc(connections.id))
        .limit(limit)
        .all();
      return rows as SealedConnectionSecretRow[];
    },
    async setWrappedKey(id, old, { wrappedDataKey, kekId }) {
      return (await setWrappedKey().run({ id, old, wrappedDataKey, kekId })).changes === 1;
    },
    async setConnectionSecret(id, old, sealed) {
      const unchanged = and(eq(connections.id, id), eq(connections.clientSecretSealed, old));
      return (await db.update(connections).set({ clientSecretSealed: sealed }).where(unchanged).run()).changes === 1;
    },
    async setWaiting({ table, id, sealed: old }, { sealed, kekId }) {
      if (table === 'jobs') {
        const unchanged = and(eq(jobs.id, id), eq(jobs.payloadSealed, old));
        return (await db.update(jobs).set({ payloadSealed: sealed, kekId }).where(unchanged).run()).changes === 1;
      }
      const keys = table === 'auth_requests' ? authRequests : storedContents;
      const unchanged = and(eq(keys.id, id), eq(keys.wrappedDataKey, old));
      return (await db.update(keys).set({ wrappedDataKey: sealed, kekId }).where(unchanged).run()).changes === 1;
    },
  };
}
