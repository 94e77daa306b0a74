import { createAuditArchives } from './audit-archives.ts';
import { auditHash, GENESIS } from './audit-chain.ts';
import type { AuditHeads } from './audit-heads.ts';
import { and, asc, count, eq, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList } from './keyset.ts';
import type { Page, PageRequest } from './page.ts';
import type { AuditHead, AuditRow, AuditVerdict, NewAuditRow } from './rows/audit.ts';
import { auditLog } from './schema.ts';
import { environmentRange, environmentRangeAfter } from './sequence.ts';
import type { Statements } from './statements.ts';

export interface AuditReads {
  list(environmentId: EnvironmentId, page: PageRequest): Promise<Page<AuditRow>>;
  /**
   * Recomputes the chain of the environment, from its first record or from the last one that was archived and removed. An attacker who can write the file can also forge a chain: keep a copy of its last hash elsewhere.
   */
  verifyChain(environmentId: EnvironmentId): Promise<AuditVerdict>;
  /** The record before the first one: the last that was archived and removed. Undefined while none was. */
  removedEnd(environmentId: EnvironmentId): Promise<AuditHead | undefined>;
  /** Records that are not in the archive yet and follow a `seq`, the oldest first. */
  unarchived(environmentId: EnvironmentId, after: number, limit: number): Promise<AuditRow[]>;
}

export interface AuditWrites {
  append(environmentId: EnvironmentId, row: NewAuditRow): Promise<void>;
  /** Notes that the records up to this `seq` are in the archive. */
  markArchived(environmentId: EnvironmentId, seq: number): Promise<void>;
  /** Removes some of the records that are in the archive, the oldest first. @returns how many */
  removeArchived(environmentId: EnvironmentId, limit: number): Promise<number>;
}

export type AuditRepository = AuditReads & AuditWrites;

const ENVIRONMENT = sql.placeholder('environmentId');
const BATCH = 1000;

export function createAuditRepository(statements: Statements, heads: AuditHeads): AuditRepository {
  const { db, once, dialect } = statements;
  const insert = once(() => {
    const names = ['seq', 'id', 'environmentId', 'at', 'actor', 'action', 'subjectId', 'requestId', 'details'];
    const values = Object.fromEntries([...names, 'prevHash', 'hash'].map((name) => [name, sql.placeholder(name)]));
    return db
      .insert(auditLog)
      .values(values as unknown as AuditRow)
      .prepare();
  });
  const next = once(() =>
    db
      .select()
      .from(auditLog)
      .where(environmentRangeAfter(dialect, auditLog.seq, sql.placeholder('after')))
      .orderBy(asc(auditLog.seq))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const remove = once(() =>
    db
      .delete(auditLog)
      .where(and(environmentRange(auditLog.seq).all, lte(auditLog.seq, sql.placeholder('upTo'))))
      .prepare(),
  );
  const archives = createAuditArchives(statements);
  const place = once(() =>
    db
      .select({ seq: auditLog.seq })
      .from(auditLog)
      .where(and(eq(auditLog.id, sql.placeholder('id')), eq(auditLog.environmentId, ENVIRONMENT)) as SQL)
      .prepare(),
  );
  const list = createKeysetList<AuditRow, never>(statements, {
    order: auditLog.seq,
    scope: environmentRange(auditLog.seq),
    filters: {},
    select: (where, order) =>
      db
        .select()
        .from(auditLog)
        .where(and(where, eq(auditLog.environmentId, ENVIRONMENT)))
        .orderBy(order)
        .limit(sql.placeholder('limit'))
        .prepare(),
    count: (where) => db.select({ total: count() }).from(auditLog).where(where).prepare(),
    keptTotal: (_names, { environmentId }) => heads.total(environmentId as EnvironmentId),
    placeOf: (row) => row.seq,
    placeOfCursor: async (environmentId, id) => (await place().get({ environmentId, id }))?.seq,
  });

  return {
    list: (environmentId, page) => list.page(environmentId, {}, page),
    async append(environmentId, { details = {}, ...given }) {
      const before = await heads.next(environmentId);
      const seq = before.seq + 1;
      const row = { ...given, details, environmentId, seq, prevHash: before.hash };
      const hash = auditHash(row);
      await insert().run({ ...row, hash });
      heads.move(environmentId, { seq, hash });
    },
    async removedEnd(environmentId) {
      const archive = await archives.get(environmentId);
      return archive && { seq: archive.removedSeq, hash: archive.removedHash };
    },
    async unarchived(environmentId, after, limit) {
      const archivedSeq = (await archives.get(environmentId))?.archivedSeq ?? 0;
      return await next().all({ environmentId, after: Math.max(after, archivedSeq), limit });
    },
    markArchived: (environmentId, seq) => archives.archived(environmentId, seq),
    async removeArchived(environmentId, limit) {
      const archive = await archives.get(environmentId);
      if (!archive || archive.removedSeq === archive.archivedSeq) return 0;
      const { removedSeq, archivedSeq } = archive;
      const following = await next().all({ environmentId, after: removedSeq, limit });
      const rows = following.filter(({ seq }) => seq <= archivedSeq);
      const last = rows.at(-1);
      if (last === undefined) return 0;
      await remove().run({ environmentId, upTo: last.seq });
      await archives.removed(environmentId, last);
      return rows.length;
    },
    async verifyChain(environmentId) {
      const end = await heads.get(environmentId);
      const removed = await archives.get(environmentId);
      let hash = removed?.removedHash ?? GENESIS;
      let rows = 0;
      let last = removed?.removedSeq;
      for (;;) {
        const batch = await next().all({ environmentId, after: last ?? 0, limit: BATCH });
        for (const row of batch) {
          const follows = last === undefined || row.seq === last + 1;
          if (!follows || !row.prevHash.equals(hash) || !auditHash(row).equals(row.hash)) {
            return { intact: false, brokenAt: row.seq };
          }
          [hash, last] = [row.hash, row.seq];
          rows += 1;
        }
        if (batch.length < BATCH) break;
      }
      const complete = end === undefined ? last === undefined : end.seq === last && end.hash.equals(hash);
      return complete ? { intact: true, rows } : { intact: false, brokenAt: end?.seq ?? last ?? 0 };
    },
  };
}
