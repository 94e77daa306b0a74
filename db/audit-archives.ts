import { GENESIS } from './audit-chain.ts';
import { type Db, once } from './database.ts';
import { eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AuditArchiveRow, AuditHead } from './rows/audit.ts';
import { auditArchives, environments } from './schema.ts';

const ENVIRONMENT = sql.placeholder('environmentId');

/** The table `audit_archives`. */
export function createAuditArchives(db: Db) {
  const get = once(() => db.select().from(auditArchives).where(eq(auditArchives.environmentId, ENVIRONMENT)).prepare());
  const archived = once(() => {
    const start = sql`(select ${environments.ordinal} << 40 from ${environments} where ${environments.id} = ${ENVIRONMENT})`;
    const archivedSeq = sql.placeholder('seq');
    return db
      .insert(auditArchives)
      .values({ environmentId: ENVIRONMENT, archivedSeq, removedSeq: start, removedHash: GENESIS })
      .onConflictDoUpdate({ target: auditArchives.environmentId, set: { archivedSeq: sql`excluded.archived_seq` } })
      .prepare();
  });
  const removed = once(() =>
    db
      .update(auditArchives)
      .set({ removedSeq: sql`${sql.placeholder('seq')}`, removedHash: sql`${sql.placeholder('hash')}` })
      .where(eq(auditArchives.environmentId, ENVIRONMENT))
      .prepare(),
  );
  return {
    /** Undefined while nothing was archived. */
    get(environmentId: EnvironmentId): AuditArchiveRow | undefined {
      return get().get({ environmentId });
    },
    archived(environmentId: EnvironmentId, seq: number): void {
      archived().run({ environmentId, seq });
    },
    removed(environmentId: EnvironmentId, { seq, hash }: AuditHead): void {
      removed().run({ environmentId, seq, hash });
    },
  };
}
