import { auditHash, GENESIS } from './audit-chain.ts';
import { and, eq, sql } from './drizzle.ts';
import type { Ending } from './ending.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { AuditHead, AuditRow, NewAuditRow } from './rows/audit.ts';
import { auditArchives, auditHeads, auditLog, environments } from './schema.ts';
import type { Statements } from './statements.ts';

/**
 * A chain of audit records, each of which contains the hash of the one before it: the records of an environment in a
 * range of `seq`.
 */
export interface AuditChain {
  /** The `seq` before that of the first record. */
  start: number;
  /** The maximum `seq`. */
  limit: number;
  /** The last record; undefined if there is none. */
  head: AuditHead | undefined;
}

/** The last records of the chains. An environment has one chain, or one for each database connection that writes. */
export interface AuditHeads {
  /**
   * Appends a row to the chain that the transaction writes to. Reads of the log see it after `flush`. The new last
   * record of the chain is stored at the end of the transaction.
   */
  append(environmentId: EnvironmentId, row: NewAuditRow): Promise<void>;
  /** Writes the appended rows that an engine has kept for the end of the transaction, so that reads see them. */
  flush(): Promise<void>;
  chains(environmentId: EnvironmentId): Promise<AuditChain[]>;
  /** Returns how many rows the database has; rows that were archived and removed are not included. */
  total(environmentId: EnvironmentId): Promise<number>;
  ending: Ending;
}

const ENVIRONMENT = sql.placeholder('environmentId');

/** Returns the complete row, with `seq` and hashes, that follows the last row of a chain. */
export function rowAfter(
  before: AuditHead,
  environmentId: EnvironmentId,
  { details = {}, ...given }: NewAuditRow,
): AuditRow {
  const row = { ...given, details, environmentId, seq: before.seq + 1, prevHash: before.hash };
  return { ...row, hash: auditHash(row) };
}

/** Makes the statement that inserts one row. */
export function prepareAuditInsert({ db }: Statements) {
  const names = ['seq', 'id', 'environmentId', 'at', 'actor', 'action', 'subjectId', 'requestId', 'details'];
  const values = Object.fromEntries([...names, 'prevHash', 'hash'].map((name) => [name, sql.placeholder(name)]));
  return db
    .insert(auditLog)
    .values(values as unknown as AuditRow)
    .prepare();
}

/**
 * How many `seq` values belong to one chain. A `seq` contains the numbers of the environment, the chain and the record,
 * in this order of bits.
 */
const CHAIN_SIZE = 2 ** 30;

/**
 * The chains of an environment in a database that only one process writes. All records continue the last chain; earlier
 * chains were copied from another database. The appends of one transaction are linked in memory: the first one reads the
 * last record, and the commit writes the new one.
 */
export function createAuditHeads(statements: Statements): AuditHeads {
  const { db, once } = statements;
  const insert = once(() => prepareAuditInsert(statements));
  const all = once(() =>
    db
      .select({ seq: auditHeads.seq, hash: auditHeads.hash })
      .from(auditHeads)
      .where(eq(auditHeads.environmentId, ENVIRONMENT))
      // `storedHeads` sorts the rows: there are few chains, and sorting in the query would take three times as long.
      .prepare(),
  );
  /** Reads the `seq` before that of the first record of an environment. */
  const start = once(() =>
    db
      // Bits 40 and above of a `seq` contain the number of its environment.
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
  /** The entries of `moved` before the running unit changed them, which restore `moved` if the unit is rolled back. */
  const replaced: [EnvironmentId, AuditHead | undefined][] = [];
  /**
   * The last records of the chains, as the transaction has read them. They stay correct until the transaction ends,
   * because only its end writes to `audit_heads`.
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

  async function writeMoved(): Promise<void> {
    for (const [environmentId, head] of moved) await write(environmentId, head);
  }

  return {
    async append(environmentId, given) {
      const head = moved.get(environmentId) ?? (await storedBefore(environmentId));
      const before = head ?? { seq: (await start().get({ environmentId }))?.seq ?? 0, hash: GENESIS };
      const row = rowAfter(before, environmentId, given);
      await insert().run({ ...row });
      replaced.push([environmentId, moved.get(environmentId)]);
      moved.set(environmentId, { seq: row.seq, hash: row.hash });
    },
    flush: async () => {},
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
      write: () => (moved.size === 0 ? undefined : writeMoved()),
    },
  };
}

function chainFrom(start: number, head: AuditHead | undefined): AuditChain {
  return { start, limit: start + CHAIN_SIZE - 1, head };
}
