import { GENESIS } from './audit-chain.ts';
import type { AuditChain } from './audit-heads.ts';
import { and, eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AuditArchiveRow, AuditHead } from './rows/audit.ts';
import { auditArchives } from './schema.ts';
import type { Statements } from './statements.ts';

const given = (name: string) => sql`${sql.placeholder(name)}`;
const ofChain = and(
  eq(auditArchives.environmentId, sql.placeholder('environmentId')),
  sql`${auditArchives.archivedSeq} > ${given('start')} and ${auditArchives.archivedSeq} <= ${given('limit')}`,
);

/** The table `audit_archives`, with a row for each chain that has archived records. */
export function createAuditArchives({ db, once }: Statements) {
  const get = once(() => db.select().from(auditArchives).where(ofChain).prepare());
  const archived = once(() =>
    db
      .update(auditArchives)
      .set({ archivedSeq: given('seq') })
      .where(ofChain)
      .prepare(),
  );
  const removed = once(() =>
    db
      .update(auditArchives)
      .set({ removedSeq: given('seq'), removedHash: given('hash') })
      .where(ofChain)
      .prepare(),
  );
  return {
    /** Returns the row of a chain; undefined if no record of the chain was archived yet. */
    get(environmentId: EnvironmentId, { start, limit }: AuditChain): Promise<AuditArchiveRow | undefined> {
      return get().get({ environmentId, start, limit });
    },
    async archived(environmentId: EnvironmentId, { start, limit }: AuditChain, seq: number): Promise<void> {
      if ((await archived().run({ environmentId, start, limit, seq })).changes === 1) return;
      const row = { environmentId, archivedSeq: seq, removedSeq: start, removedHash: GENESIS };
      await db.insert(auditArchives).values(row).run();
    },
    async removed(environmentId: EnvironmentId, { start, limit }: AuditChain, head: AuditHead): Promise<void> {
      await removed().run({ environmentId, start, limit, ...head });
    },
  };
}
