import { createAuditArchives } from './audit-archives.ts';
import { auditHash, GENESIS } from './audit-chain.ts';
import type { AuditChain, AuditHeads } from './audit-heads.ts';
import { type AuditWitness, createAuditWitness } from './audit-witness.ts';
import { and, asc, eq, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList, type Filter } from './keyset.ts';
import { countUpTo, placesOf } from './large-list.ts';
import { everywhere } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type { AuditFilters, AuditHead, AuditRow, AuditVerdict, NewAuditRow } from './rows/audit.ts';
import { auditLog } from './schema.ts';
import { environmentRange, environmentRangeAfter } from './sequence.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface AuditReads {
  list(environmentId: EnvironmentId, page: PageRequest, filters?: AuditFilters): Promise<Page<AuditRow>>;
  /** The records of a chain that follow a `seq`, the oldest first. */
  following(environmentId: EnvironmentId, chain: AuditChain, after: number, limit: number): Promise<AuditRow[]>;
  /**
   * Recomputes the chains of the environment, each from its first record or from the last one that was archived and
   * removed, and compares them with the published heads in the log. An attacker who can write the database can also
   * forge a chain: keep a copy of its last hash elsewhere.
   */
  verifyChain(environmentId: EnvironmentId): Promise<AuditVerdict>;
  /** Returns the chains of the environment, each with the last record that was archived and removed. */
  chains(environmentId: EnvironmentId): Promise<(AuditChain & { removed: AuditHead | undefined })[]>;
  /** Returns records of a chain that are not archived yet and come after a `seq`, the oldest first. */
  unarchived(environmentId: EnvironmentId, chain: AuditChain, after: number, limit: number): Promise<AuditRow[]>;
}

export interface AuditWrites {
  append(environmentId: EnvironmentId, row: NewAuditRow): Promise<void>;
  /** Records that the records of a chain up to this `seq` are archived. */
  markArchived(environmentId: EnvironmentId, chain: AuditChain, seq: number): Promise<void>;
  /** Deletes up to `limit` archived records of one chain, the oldest first. @returns how many; 0 if no chain has any */
  removeArchived(environmentId: EnvironmentId, limit: number): Promise<number>;
}

export type AuditRepository = AuditReads & AuditWrites;

const ENVIRONMENT = sql.placeholder('environmentId');
/** The maximum number of rows that are verified in one turn of the event loop. */
const BATCH = 250;

const FILTERS: Record<keyof AuditFilters, Filter> = {
  subjectId: () => sql`${auditLog.subjectId} = ${sql.placeholder('subjectId')}`,
  actor: () => sql`${auditLog.actor} = ${sql.placeholder('actor')}`,
  action: () => sql`${auditLog.action} = ${sql.placeholder('action')}`,
  createdFrom: () => sql`${auditLog.at} >= ${sql.placeholder('createdFrom')}`,
  createdBefore: () => sql`${auditLog.at} < ${sql.placeholder('createdBefore')}`,
};

export function createAuditRepository(statements: Statements, heads: AuditHeads, pacing: Pacing): AuditRepository {
  const { db, once, dialect } = statements;
  const next = once(() =>
    db
      .select()
      .from(auditLog)
      .where(
        and(
          environmentRangeAfter(dialect, auditLog.seq, sql.placeholder('after')),
          lte(auditLog.seq, sql.placeholder('until')),
        ),
      )
      .orderBy(asc(auditLog.seq))
      .limit(sql.placeholder('limit'))
      .prepare(),
  );
  const remove = once(() =>
    db
      .delete(auditLog)
      .where(
        and(
          environmentRangeAfter(dialect, auditLog.seq, sql.placeholder('after')),
          lte(auditLog.seq, sql.placeholder('upTo')),
        ),
      )
      .prepare(),
  );
  const archives = createAuditArchives(statements);
  const place = once(() =>
    db
      .select({ place: auditLog[dialect.auditOrder] })
      .from(auditLog)
      .where(and(eq(auditLog.id, sql.placeholder('id')), eq(auditLog.environmentId, ENVIRONMENT)) as SQL)
      .prepare(),
  );
  const order = dialect.auditOrder;
  const within = eq(auditLog.environmentId, ENVIRONMENT);
  const list = createKeysetList<AuditRow, keyof AuditFilters>(statements, {
    order: auditLog[order],
    scope: order === 'seq' ? environmentRange(auditLog.seq) : everywhere(within),
    filters: FILTERS,
    select: (where, order) =>
      db.select().from(auditLog).where(and(where, within)).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => countUpTo(db, auditLog, where),
    keptTotal: async (names, { environmentId }) =>
      names.length === 0 ? heads.total(environmentId as EnvironmentId) : undefined,
    large: {
      // The log is read in its order: an index for each filter would slow down every change.
      lead: async () => undefined,
      places: (where, order) => placesOf(db, auditLog, auditLog[dialect.auditOrder], where, order),
      pacing,
    },
    placeOf: (row) => row[order],
    placeOfCursor: async (environmentId, id) => (await place().get({ environmentId, id }))?.place,
  });

  return {
    async list(environmentId, page, filters = {}) {
      await heads.flush();
      return await list.page(environmentId, { ...filters }, page);
    },
    async following(environmentId, chain, after, limit) {
      await heads.flush();
      return await next().all({ environmentId, after: Math.max(after, chain.start), until: chain.limit, limit });
    },
    append: (environmentId, row) => heads.append(environmentId, row),
    async chains(environmentId) {
      const withRemoved = async (chain: AuditChain) => {
        const archive = await archives.get(environmentId, chain);
        return { ...chain, removed: archive && { seq: archive.removedSeq, hash: archive.removedHash } };
      };
      return await Promise.all((await heads.chains(environmentId)).map(withRemoved));
    },
    async unarchived(environmentId, chain, after, limit) {
      await heads.flush();
      const archivedSeq = (await archives.get(environmentId, chain))?.archivedSeq ?? chain.start;
      return await next().all({ environmentId, after: Math.max(after, archivedSeq), until: chain.limit, limit });
    },
    markArchived: (environmentId, chain, seq) => archives.archived(environmentId, chain, seq),
    async removeArchived(environmentId, limit) {
      for (const chain of await heads.chains(environmentId)) {
        const removed = await removeFrom(environmentId, chain, limit);
        if (removed > 0) return removed;
      }
      return 0;
    },
    async verifyChain(environmentId) {
      let rows = 0;
      const chains = await heads.chains(environmentId);
      const witness = createAuditWitness();
      for (const chain of chains) {
        const verdict = await verify(environmentId, chain, witness);
        if (!verdict.intact) return verdict;
        rows += verdict.rows;
      }
      for (const head of witness.named())
        if (!(await holds(environmentId, chains, head))) return { intact: false, brokenAt: head.seq };
      return { intact: true, rows };
    },
  };

  async function removeFrom(environmentId: EnvironmentId, chain: AuditChain, limit: number): Promise<number> {
    const archive = await archives.get(environmentId, chain);
    if (!archive || archive.removedSeq === archive.archivedSeq) return 0;
    const { removedSeq: after, archivedSeq: until } = archive;
    const rows = await next().all({ environmentId, after, until, limit });
    const last = rows.at(-1);
    if (last === undefined) return 0;
    await remove().run({ environmentId, after, upTo: last.seq });
    await archives.removed(environmentId, chain, last);
    return rows.length;
  }

  /** Whether a chain contains the record `head`, or contained it until it was archived and removed. */
  async function holds(environmentId: EnvironmentId, chains: readonly AuditChain[], head: AuditHead): Promise<boolean> {
    const { seq } = head;
    const chain = chains.find(({ start, limit }) => start < seq && seq <= limit);
    if (chain === undefined) return false;
    const [row] = await next().all({ environmentId, after: seq - 1, until: seq, limit: 1 });
    if (row !== undefined) return row.hash.equals(head.hash);
    const archive = await archives.get(environmentId, chain);
    return archive !== undefined && archive.removedSeq >= seq;
  }

  async function verify(environmentId: EnvironmentId, chain: AuditChain, witness: AuditWitness): Promise<AuditVerdict> {
    const removed = await archives.get(environmentId, chain);
    let hash = removed?.removedHash ?? GENESIS;
    let rows = 0;
    let last = removed?.removedSeq;
    for (;;) {
      const batch = await next().all({ environmentId, after: last ?? chain.start, until: chain.limit, limit: BATCH });
      for (const row of batch) {
        const follows = last === undefined || row.seq === last + 1;
        if (!follows || !row.prevHash.equals(hash) || !auditHash(row).equals(row.hash)) {
          return { intact: false, brokenAt: row.seq };
        }
        [hash, last] = [row.hash, row.seq];
        witness.read(row);
        rows += 1;
      }
      if (batch.length < BATCH) break;
      await pacing.yieldToEventLoop();
    }
    const { head } = chain;
    const complete = head === undefined ? last === undefined : head.seq === last && head.hash.equals(hash);
    return complete ? { intact: true, rows } : { intact: false, brokenAt: head?.seq ?? last ?? 0 };
  }
}
