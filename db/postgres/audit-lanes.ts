import { GENESIS } from '../audit-chain.ts';
import { type AuditHeads, prepareAuditInsert, rowAfter } from '../audit-heads.ts';
import { and, eq, type IndexColumn, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import { UniqueError } from '../errors.ts';
import type { AuditHead, AuditRow, NewAuditRow } from '../rows/audit.ts';
import { auditArchives, auditHeads, auditLog, environments } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { ConflictError, LANE_TAKEN } from './errors.ts';

/**
 * An environment has `LANES` lanes, which are the parts of its audit log. Each lane has one chain with at most
 * `LANE_SIZE` records. The `seq` of a record contains the number of its lane, and its own number in the chain.
 */
const LANES = 1024;
const LANE_SIZE = 2 ** 30;
const ENVIRONMENT_SIZE = LANES * LANE_SIZE;

/**
 * The lane that a connection writes to. If two connections write to the same lane, the second one changes to another
 * lane.
 */
export interface AuditLane {
  number: number;
  /** The last record of the lane after the last write of this connection, by environment. */
  heads: Map<EnvironmentId, AuditHead>;
}

/** Changes to another lane, because another connection writes to this one. */
export function changeLane(lane: AuditLane): void {
  useLane(lane, Math.floor(Math.random() * LANES));
}

/** @param number any number; modulo `LANES`, it is the number of the lane */
export function useLane(lane: AuditLane, number: number): void {
  lane.number = number % LANES;
  lane.heads.clear();
}

const ENVIRONMENT = sql.placeholder('environmentId');
const given = (name: string) => sql`${sql.placeholder(name)}`;

/** The types of the columns of `audit_log`, by which many rows are passed as one array for each column. */
const COLUMNS: Record<keyof AuditRow, 'bigint' | 'text' | 'bytea'> = {
  ...{ seq: 'bigint', id: 'text', environmentId: 'text', at: 'bigint', actor: 'text', action: 'text' },
  ...{ subjectId: 'text', requestId: 'text', details: 'text', prevHash: 'bytea', hash: 'bytea' },
};

/**
 * The audit chains of an environment. Each writing connection uses its own chain, so that transactions on different
 * connections do not wait for each other. The appends of one transaction are kept in memory until its end, or until the
 * transaction reads the log; then they are linked and written. At the end they are sent together with the last record
 * of the chain and the commit, so that they add no round trip.
 *
 * @param outside statements that read committed data, outside of the transaction. The end of the chain is read with
 * them: a transaction that reads a missing row would conflict with every transaction that inserts one. The write at the
 * end of the transaction checks that the chain still has this end
 */
export function createAuditLanes(
  statements: Statements,
  lane: AuditLane,
  outside: Statements = statements,
): AuditHeads {
  const { db, once } = statements;
  const insertOne = once(() => prepareAuditInsert(statements));
  const insertMany = once(() => {
    const arrays = Object.entries(COLUMNS).map(([name, type]) => sql`${given(name)}::${sql.raw(type)}[]`);
    return db
      .insert(auditLog)
      .select(sql`select * from unnest(${sql.join(arrays, sql`, `)})`)
      .prepare();
  });
  // Read within the transaction, because the transaction may have added the environment.
  const ordinal = once(() =>
    db.select({ ordinal: environments.ordinal }).from(environments).where(eq(environments.id, ENVIRONMENT)).prepare(),
  );
  const stored = once(() =>
    outside.db
      .select({ seq: auditHeads.seq, hash: auditHeads.hash })
      .from(auditHeads)
      .where(and(eq(auditHeads.environmentId, ENVIRONMENT), sql`lane = ${given('lane')}`))
      .prepare(),
  );
  const all = once(() =>
    db
      .select({ seq: auditHeads.seq, hash: auditHeads.hash })
      .from(auditHeads)
      .where(eq(auditHeads.environmentId, ENVIRONMENT))
      .orderBy(auditHeads.seq)
      .prepare(),
  );
  const total = once(() => {
    const removed = sql`(select ${auditArchives.removedSeq} from ${auditArchives}
      where ${auditArchives.environmentId} = ${auditHeads.environmentId} and ${auditArchives}.lane = ${auditHeads}.lane)`;
    const start = sql`(${auditHeads.seq} >> 30 << 30)`;
    return db
      .select({ total: sql<number>`coalesce(sum(${auditHeads.seq} - coalesce(${removed}, ${start})), 0)` })
      .from(auditHeads)
      .where(eq(auditHeads.environmentId, ENVIRONMENT))
      .prepare();
  });
  /**
   * Writes the new end of the chain. If the stored end is not the expected one, the statement sets the hash to null,
   * which the column does not allow. It must fail then, because the commit may already have been sent with it.
   */
  const moveOn = once(() =>
    db
      .insert(auditHeads)
      .values({ environmentId: ENVIRONMENT, seq: given('seq'), hash: given('hash') })
      .onConflictDoUpdate({
        target: sql`environment_id, lane` as unknown as IndexColumn,
        set: {
          seq: sql`excluded.seq`,
          hash: sql`case when ${auditHeads.seq} = ${given('before')} and ${auditHeads.hash} = ${given('beforeHash')}
            then excluded.hash end`,
        },
      })
      .prepare(),
  );
  /**
   * By environment: the record before the first append of the transaction, the last record that was linked, and the
   * appends that are not linked yet.
   */
  let moved = new Map<EnvironmentId, { before: AuditHead; head: AuditHead; kept: NewAuditRow[] }>();

  /**
   * Returns the last record of the lane; for an empty lane, the `seq` before its first record, with the hash `GENESIS`.
   */
  async function endOf(environmentId: EnvironmentId): Promise<AuditHead> {
    const known = lane.heads.get(environmentId) ?? (await stored().get({ environmentId, lane: lane.number }));
    if (known) return known;
    const low = ((await ordinal().get({ environmentId }))?.ordinal ?? 0) * ENVIRONMENT_SIZE;
    return { seq: low + lane.number * LANE_SIZE, hash: GENESIS };
  }

  /** Links the rows that are kept to their chains, and sends them. All statements are called before it returns. */
  async function writeKept(): Promise<void> {
    const rows: AuditRow[] = [];
    for (const [environmentId, chain] of moved) {
      for (const given of chain.kept.splice(0)) {
        const row = rowAfter(chain.head, environmentId, given);
        chain.head = { seq: row.seq, hash: row.hash };
        rows.push(row);
      }
    }
    const [first] = rows;
    if (rows.length === 1) await insertOne().run({ ...first });
    else if (first) await insertMany().run(columnsOf(rows));
  }

  return {
    async append(environmentId, row) {
      let chain = moved.get(environmentId);
      if (chain === undefined) {
        const end = await endOf(environmentId);
        // During the wait, another append of the transaction may have added the chain.
        chain = moved.get(environmentId) ?? { before: end, head: end, kept: [] };
        moved.set(environmentId, chain);
      }
      chain.kept.push(row);
    },
    flush: writeKept,
    async chains(environmentId) {
      await writeKept();
      const own = moved.get(environmentId)?.head;
      const heads = await all().all({ environmentId });
      const others = heads.filter((head) => own === undefined || startOf(head) !== startOf(own));
      return (own ? [...others, own] : others).map((head) => {
        const start = startOf(head);
        return { start, limit: start + LANE_SIZE - 1, head };
      });
    },
    async total(environmentId) {
      const { before, head, kept } = moved.get(environmentId) ?? {};
      const appended = before && head && kept ? head.seq - before.seq + kept.length : 0;
      return ((await total().get({ environmentId }))?.total ?? 0) + appended;
    },
    ending: {
      begin() {
        moved = new Map();
      },
      keep() {
        for (const [environmentId, { head }] of moved) lane.heads.set(environmentId, head);
      },
      undo() {
        moved = new Map();
      },
      async write() {
        const rows = writeKept();
        const heads = [...moved].flatMap(([environmentId, { before, head }]) =>
          head.seq === before.seq
            ? []
            : [moveOn().run({ environmentId, ...head, before: before.seq, beforeHash: before.hash })],
        );
        await Promise.all([rows, ...heads]);
      },
    },
  };
}

/** Returns the values of each column, as they are stored. */
function columnsOf(rows: readonly AuditRow[]): Record<keyof AuditRow, unknown[]> {
  const stored = rows.map((row) => ({ ...row, details: JSON.stringify(row.details) }));
  const names = Object.keys(COLUMNS) as (keyof AuditRow)[];
  return Object.fromEntries(names.map((name) => [name, stored.map((row) => row[name])])) as Record<
    keyof AuditRow,
    unknown[]
  >;
}

function startOf({ seq }: AuditHead): number {
  return Math.floor(seq / LANE_SIZE) * LANE_SIZE;
}

/** Whether a unit failed because another connection has appended to the same chain. */
export function isLaneTaken(error: unknown): boolean {
  if (error instanceof UniqueError) return error.constraint === 'audit_log_pkey';
  return error instanceof ConflictError && error.code === LANE_TAKEN;
}
