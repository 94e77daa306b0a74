import { auditHash, GENESIS } from './audit-chain.ts';
import type { AuditHeads } from './audit-heads.ts';
import type { JsonObject } from './columns.ts';
import { type Db, once } from './database.ts';
import { and, asc, count, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList } from './keyset.ts';
import type { Page, PageRequest } from './page.ts';
import { auditLog } from './schema.ts';
import { environmentRange, environmentRangeAfter } from './sequence.ts';

export type AuditRow = typeof auditLog.$inferSelect;

/** `actor` is the API client; `details` never carries a secret. */
export type NewAuditRow = Omit<AuditRow, 'seq' | 'environmentId' | 'prevHash' | 'hash' | 'details'> & {
  details?: JsonObject;
};

/** `brokenAt` is the `seq` of the first row that does not follow from the one before, or of the end that is missing. */
export type AuditVerdict = { intact: true; rows: number } | { intact: false; brokenAt: number };

export interface AuditReads {
  list(environmentId: EnvironmentId, page: PageRequest): Promise<Page<AuditRow>>;
  /** Recomputes the chain of the environment. Whoever can write the file can also forge a chain: keep a copy of its end elsewhere. */
  verifyChain(environmentId: EnvironmentId): Promise<AuditVerdict>;
}

export interface AuditWrites {
  append(environmentId: EnvironmentId, row: NewAuditRow): Promise<void>;
}

export type AuditRepository = AuditReads & AuditWrites;

const ENVIRONMENT = sql.placeholder('environmentId');
const BATCH = 1000;

export function createAuditRepository(db: Db, heads: AuditHeads): AuditRepository {
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
      .where(environmentRangeAfter(auditLog.seq, sql.placeholder('after')))
      .orderBy(asc(auditLog.seq))
      .limit(BATCH)
      .prepare(),
  );
  const place = once(() =>
    db
      .select({ seq: auditLog.seq })
      .from(auditLog)
      .where(and(eq(auditLog.id, sql.placeholder('id')), eq(auditLog.environmentId, ENVIRONMENT)) as SQL)
      .prepare(),
  );
  const list = createKeysetList<AuditRow, never>({
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
    placeOfCursor: (environmentId, id) => place().get({ environmentId, id })?.seq,
  });

  return {
    async list(environmentId, page) {
      return list.page(environmentId, {}, page);
    },
    async append(environmentId, { details = {}, ...given }) {
      const before = heads.next(environmentId);
      const seq = before.seq + 1;
      const row = { ...given, details, environmentId, seq, prevHash: before.hash };
      const hash = auditHash(row);
      insert().run({ ...row, hash });
      heads.move(environmentId, { seq, hash });
    },
    async verifyChain(environmentId) {
      const end = heads.get(environmentId);
      let hash = GENESIS;
      let rows = 0;
      let last: number | undefined;
      for (;;) {
        const batch = next().all({ environmentId, after: last ?? 0 });
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
      const complete = end === undefined ? rows === 0 : end.seq === last && end.hash.equals(hash);
      return complete ? { intact: true, rows } : { intact: false, brokenAt: end?.seq ?? last ?? 0 };
    },
  };
}
