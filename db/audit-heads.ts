import { GENESIS } from './audit-chain.ts';
import { conflictOf } from './columns.ts';
import { eq, sql } from './drizzle.ts';
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
  /** Returns what the next row follows; the start of the chain if there is no row yet. */
  next(environmentId: EnvironmentId): Promise<AuditHead>;
  chains(environmentId: EnvironmentId): Promise<AuditChain[]>;
  /** Returns how many rows were ever written. Rows that were archived and removed are not subtracted. */
  total(environmentId: EnvironmentId): Promise<number>;
  /** Records an appended row as the last one. It is written to the database at the end of the transaction. */
  move(environmentId: EnvironmentId, head: AuditHead): void;
  ending: Ending;
}

const ENVIRONMENT = sql.placeholder('environmentId');
/** Numbers of one environment: see 0001_initial.sql. */
const ENVIRONMENT_SIZE = 2 ** 40;

/**
 * One chain for each environment. The appends of one transaction are linked in memory: the first one reads the last
 * record, and the commit writes the new one.
 */
export function createAuditHeads({ db, once }: Statements): AuditHeads {
  const stored = once(() =>
    db
      .select({ seq: auditHeads.seq, hash: auditHeads.hash })
      .from(auditHeads)
      .where(eq(auditHeads.environmentId, ENVIRONMENT))
      .prepare(),
  );
  const removed = sql`select ${auditArchives.removedSeq} from ${auditArchives}
    where ${auditArchives.environmentId} = ${environments.id}`;
  /** What the first row of a chain follows. */
  const start = once(() =>
    db
      // Bit 40 and up of a `seq` are the ordinal of its environment: see 0001_initial.sql.
      .select({ seq: sql<number>`coalesce((${removed}), ${environments.ordinal} << 40)` })
      .from(environments)
      .where(eq(environments.id, ENVIRONMENT))
      .prepare(),
  );
  const store = once(() =>
    db
      .insert(auditHeads)
      .values({ environmentId: ENVIRONMENT, seq: sql.placeholder('seq'), hash: sql.placeholder('hash') })
      .onConflictDoUpdate({
        target: conflictOf(auditHeads.environmentId),
        set: { seq: sql`excluded.seq`, hash: sql`excluded.hash` },
      })
      .prepare(),
  );
  let moved = new Map<EnvironmentId, AuditHead>();
  /** The previous values of entries that the running unit has changed. */
  const replaced: [EnvironmentId, AuditHead | undefined][] = [];
  const get = async (environmentId: EnvironmentId): Promise<AuditHead | undefined> =>
    moved.get(environmentId) ?? (await stored().get({ environmentId }));
  const ordinal = once(() =>
    db.select({ ordinal: environments.ordinal }).from(environments).where(eq(environments.id, ENVIRONMENT)).prepare(),
  );
  const startOf = async (environmentId: EnvironmentId) => (await start().get({ environmentId }))?.seq ?? 0;

  return {
    async next(environmentId) {
      return (await get(environmentId)) ?? { seq: await startOf(environmentId), hash: GENESIS };
    },
    async chains(environmentId) {
      const start = ((await ordinal().get({ environmentId }))?.ordinal ?? 0) * ENVIRONMENT_SIZE;
      return [{ start, limit: start + ENVIRONMENT_SIZE - 1, head: await get(environmentId) }];
    },
    async total(environmentId) {
      const head = await get(environmentId);
      return head === undefined ? 0 : head.seq - (await startOf(environmentId));
    },
    move(environmentId, head) {
      replaced.push([environmentId, moved.get(environmentId)]);
      moved.set(environmentId, head);
    },
    ending: {
      begin() {
        replaced.length = 0;
        moved = new Map();
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
        for (const [environmentId, head] of moved) await store().run({ environmentId, ...head });
      },
    },
  };
}
