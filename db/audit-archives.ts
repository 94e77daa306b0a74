import { GENESIS } from './audit-chain.ts';
import { conflictOf } from './columns.ts';
import { eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AuditArchiveRow, AuditHead } from './rows/audit.ts';
import { auditArchives, environments } from './schema.ts';
import type { Statements } from './statements.ts';

const ENVIRONMENT = sql.placeholder('environmentId');

/** The table `audit_archives`. */
export function createAuditArchives({ db, once }: Statements) {
  const get = once(() => db.select().from(auditArchives).where(eq(auditArchives.environmentId, ENVIRONMENT)).prepare());
  const archived = once(() => {
    const start = sql`(select ${environments.ordinal} << 40 from ${environments} where ${environments.id} = ${ENVIRONMENT})`;
    const archivedSeq = sql.placeholder('seq');
    return db
      .insert(auditArchives)
      .values({ environmentId: ENVIRONMENT, archivedSeq, removedSeq: start, removedHash: GENESIS })
      .onConflictDoUpdate({
        target: conflictOf(auditArchives.environmentId),
        set: { archivedSeq: sql`excluded.archived_seq` },
      })
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
    get(environmentId: EnvironmentId): Promise<AuditArchiveRow | undefined> {
      return get().get({ environmentId });
    },
    async archived(environmentId: EnvironmentId, seq: number): Promise<void> {
      await archived().run({ environmentId, seq });
    },
    async removed(environmentId: EnvironmentId, { seq, hash }: AuditHead): Promise<void> {
      await removed().run({ environmentId, seq, hash });
    },
  };
}
