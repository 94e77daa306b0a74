import { type DataKeys, wrappedDataKeyIn } from './data-keys.ts';
import { and, asc, count, eq, gt, sql } from './drizzle.ts';
import type { DataKeyTable, WaitingKeyRow, WrappedKeyRow } from './rows/key-rotation.ts';
import { accounts, authRequests, connections, jobs, loginProviders, storedContents } from './schema.ts';
import type { Statements } from './statements.ts';

export interface KeyRotationReads {
  /**
   * Returns the accounts whose data keys are wrapped with a key-encryption key, after a `seq` (0 for the first page),
   * oldest first.
   */
  listByKek(kekId: string, afterSeq: number, limit: number): Promise<WrappedKeyRow[]>;
  /** Returns how many rows have a data key that is wrapped with a key-encryption key. */
  countByKek(kekId: string): Promise<number>;
  /** Returns all data keys of tables other than `accounts` that are wrapped with a key-encryption key. */
  listWaiting(kekId: string): Promise<WaitingKeyRow[]>;
}

export interface KeyRotationWrites {
  /**
   * Replaces a wrapped key if it is still `old`. The version of its row stays the same. @returns false if the key has
   * changed, or the row was deleted
   */
  setWrappedKey(
    table: DataKeyTable,
    id: string,
    old: Buffer,
    by: { wrappedDataKey: Buffer; kekId: string },
  ): Promise<boolean>;
}

/**
 * Queries over all environments, because a key-encryption key belongs to the deployment. Only the key rotation may use
 * them.
 */
export type KeyRotationRepository = KeyRotationReads & KeyRotationWrites;

const WAITING = {
  auth_requests: authRequests,
  connections,
  jobs,
  login_providers: loginProviders,
  stored_contents: storedContents,
};
const TABLES = { accounts, ...WAITING };

type WaitingTable = (typeof WAITING)[keyof typeof WAITING];

export function createKeyRotationRepository(
  { db, once, oncePerShape }: Statements,
  dataKeys: DataKeys,
): KeyRotationRepository {
  const listByKek = once(() =>
    db
      .select({
        seq: accounts.seq,
        id: accounts.id,
        environmentId: accounts.environmentId,
        credentialGeneration: accounts.credentialGeneration,
        origins: accounts.origins,
        wrappedDataKey: wrappedDataKeyIn(accounts.dataKey),
        kekId: accounts.kekId,
      })
      .from(accounts)
      .where(and(eq(accounts.kekId, sql.placeholder('kekId')), gt(accounts.seq, sql.placeholder('afterSeq'))))
      .orderBy(asc(accounts.seq))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  /** Two statements for each table: one finds the slot of a row's data key, the other sets its key-encryption key. */
  const ofTable = oncePerShape<ReturnType<typeof prepareRewrap>>();
  const waitingUnder = (table: WaitingTable, kekId: string) =>
    db
      .select({
        id: table.id,
        environmentId: table.environmentId,
        generation: table === connections ? connections.clientGeneration : sql<null>`null`,
        wrappedDataKey: wrappedDataKeyIn(table.dataKey),
      })
      .from(table)
      .where(eq(table.kekId, kekId))
      .all();

  return {
    async listByKek(kekId, afterSeq, limit) {
      return (await listByKek().all({ kekId, afterSeq, limit })) as WrappedKeyRow[];
    },
    async countByKek(kekId) {
      let total = 0;
      for (const table of Object.values(TABLES)) {
        const row = await db.select({ total: count() }).from(table).where(eq(table.kekId, kekId)).get();
        total += row?.total ?? 0;
      }
      return total;
    },
    async listWaiting(kekId) {
      const all: WaitingKeyRow[] = [];
      for (const [table, itsTable] of Object.entries(WAITING)) {
        const rows = await waitingUnder(itsTable, kekId);
        all.push(...rows.map((row) => ({ ...row, table }) as WaitingKeyRow));
      }
      return all;
    },
    async setWrappedKey(table, id, old, { wrappedDataKey, kekId }) {
      const { slotOf, setKek } = ofTable(table, () => prepareRewrap(db, TABLES[table]));
      const { slot } = (await slotOf.get({ id })) ?? {};
      if (!slot || !(await dataKeys.rewrap(slot, old, wrappedDataKey))) return false;
      return (await setKek.run({ id, kekId })).changes === 1;
    },
  };
}

function prepareRewrap(db: Statements['db'], table: (typeof TABLES)[DataKeyTable]) {
  const itsRow = eq(table.id, sql.placeholder('id'));
  return {
    slotOf: db.select({ slot: table.dataKey }).from(table).where(itsRow).prepare(),
    setKek: db
      .update(table)
      .set({ kekId: sql`${sql.placeholder('kekId')}` })
      .where(itsRow)
      .prepare(),
  };
}
