import { GENESIS } from './audit-chain.ts';
import { and, eq, sql } from './drizzle.ts';
import type { Ending } from './ending.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AuditHead } from './rows/audit.ts';
import { auditArchives, auditHeads, environments } from './schema.ts';
import type { Statements } from './statements.ts';

/** A chain of audit records: those of an environment in a range of `seq`. */
export interface AuditChain {
  /** The `seq` before that of the first record. */
  start: number;
  /** The maximum `seq`. */
  limit: number;
  /** The last record; undefined if there is none. */
  head: AuditHead | undefined;
}

/** The last records of the chains. An environment has one chain, or one for each connection that writes. */
export interface AuditHeads {
  /** Returns the end of the chain, which the next row follows; the start of the chain if it is empty. */
  next(environmentId: EnvironmentId): Promise<AuditHead>;
  chains(environmentId: EnvironmentId): Promise<AuditChain[]>;
  /** Returns how many rows were ever written. Rows that were archived and removed are not subtracted. */
  total(environmentId: EnvironmentId): Promise<number>;
  /** Records an appended row as the last one. It is written to the database at the end of the transaction. */
  move(environmentId: EnvironmentId, head: AuditHead): void;
  ending: Ending;
}

const ENVIRONMENT = sql.placeholder('environmentId');
/** Numbers of one chain: see 0005_chains_and_programs.sql. */
const CHAIN_SIZE = 2 ** 30;

/**
 * The chains of an environment in a database that only one process writes. All records continue the last chain; earlier
 * chains were copied from another database. The appends of one transaction are linked in memory: the first one reads the
 * last record, and the commit writes the new one.
 */
export function createAuditHeads({ db, once }: Statements): AuditHeads {
  const all = once(() =>
    db
      .select({ seq: auditHeads.seq, hash: auditHeads.hash })
      .from(auditHeads)
      .where(eq(auditHeads.environmentId, ENVIRONMENT))
      // Sorted here: there are few chains, and a query with an order takes three times as long.
      .prepare(),
  );
  /** The start of the chain, which the first record of an environment follows. */
  const start = once(() =>
    db
      // Bit 40 and up of a `seq` are the ordinal of its environment: see 0001_initial.sql.
      .select({ seq: sql<number>`${environments.ordinal} << 40` })
      .from(environments)
      .where(eq(environments.id, ENVIRONMENT))
      .prepare(),
  );
  const total = once(() => {
    const removed = sql`(select ${auditArchives.removedSeq} from ${auditArchives}
      where ${auditArchives.environmentId} = ${auditHeads.environmentId}
        and ${auditArchives.archivedSeq} >> 30 = ${auditHeads.seq} >> 30)`;
    const first = sql`(${auditHeads.seq} >> 30 << 30)`;
    return db
      .select({ total: sql<number>`coalesce(sum(${auditHeads.seq} - coalesce(${removed}, ${first})), 0)` })
      .from(auditHeads)
      .where(eq(auditHeads.environmentId, ENVIRONMENT))
      .prepare();
  });
  const moveOn = once(() =>
    db
      .update(auditHeads)
      .set({ seq: sql`${sql.placeholder('seq')}`, hash: sql`${sql.placeholder('hash')}` })
      .where(and(eq(auditHeads.environmentId, ENVIRONMENT), eq(auditHeads.seq, sql.placeholder('before'))))
      .prepare(),
  );
  const open = once(() =>
    db
      .insert(auditHeads)
      .values({ environmentId: ENVIRONMENT, seq: sql.placeholder('seq'), hash: sql.placeholder('hash') })
      .prepare(),
  );
  let moved = new Map<EnvironmentId, AuditHead>();
  /** The previous values of entries that the running unit has changed. */
  const replaced: [EnvironmentId, AuditHead | undefined][] = [];
  /**
   * The last records that the transaction has read. They stay correct until it ends, because only its end writes to the
   * table.
   */
  let read = new Map<EnvironmentId, AuditHead | undefined>();

  /** Returns the last record of each chain, newest first. */
  async function storedHeads(environmentId: EnvironmentId): Promise<AuditHead[]> {
    return (await all().all({ environmentId })).sort((a, b) => b.seq - a.seq);
  }

  async function storedBefore(environmentId: EnvironmentId): Promise<AuditHead | undefined> {
    if (!read.has(environmentId)) read.set(environmentId, (await storedHeads(environmentId))[0]);
    return read.get(environmentId);
  }

  async function write(environmentId: EnvironmentId, { seq, hash }: AuditHead): Promise<void> {
    const before = (await storedBefore(environmentId))?.seq;
    if (before === undefined) await open().run({ environmentId, seq, hash });
    else await moveOn().run({ environmentId, seq, hash, before });
  }

  return {
    async next(environmentId) {
      const head = moved.get(environmentId) ?? (await storedBefore(environmentId));
      return head ?? { seq: (await start().get({ environmentId }))?.seq ?? 0, hash: GENESIS };
    },
    async chains(environmentId) {
      const own = moved.get(environmentId);
      const [last, ...earlier] = await storedHeads(environmentId);
      const heads = [own ?? last, ...earlier].filter((head) => head !== undefined);
      if (heads.length === 0) return [chainFrom((await start().get({ environmentId }))?.seq ?? 0, undefined)];
      return heads.reverse().map((head) => chainFrom(Math.floor(head.seq / CHAIN_SIZE) * CHAIN_SIZE, head));
    },
    async total(environmentId) {
      const before = (await storedHeads(environmentId))[0]?.seq;
      const after = moved.get(environmentId)?.seq;
      const appended =
        after === undefined ? 0 : after - (before ?? (await start().get({ environmentId }))?.seq ?? after);
      return ((await total().get({ environmentId }))?.total ?? 0) + appended;
    },
    move(environmentId, head) {
      replaced.push([environmentId, moved.get(environmentId)]);
      moved.set(environmentId, head);
    },
    ending: {
      begin() {
        replaced.length = 0;
        moved = new Map();
        read = new Map();
      },
      keep() {
        replaced.length = 0;
      },
      undo() {
        for (const [environmentId, head] of replaced.splice(0).reverse()) {
          if (head === undefined) moved.delete(environmentId);
          else moved.set(environmentId, head);
        }
      },
      async write() {
        for (const [environmentId, head] of moved) await write(environmentId, head);
      },
    },
  };
}

function chainFrom(start: number, head: AuditHead | undefined): AuditChain {
  return { start, limit: start + CHAIN_SIZE - 1, head };
}
