import { GENESIS } from '../audit-chain.ts';
import type { AuditHeads } from '../audit-heads.ts';
import { and, eq, type IndexColumn, sql } from '../drizzle.ts';
import type { EnvironmentId } from '../environment-id.ts';
import { UniqueError } from '../errors.ts';
import type { AuditHead } from '../rows/audit.ts';
import { auditArchives, auditHeads, environments } from '../schema.ts';
import type { Statements } from '../statements.ts';
import { ConflictError, LANE_TAKEN } from './errors.ts';

/**
 * An environment has this many lanes, and each lane has one chain with at most this many records. Both are parts of
 * `seq`: see 0001_initial.sql.
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
  /** The last record after the last write of this connection, by environment. */
  heads: Map<EnvironmentId, AuditHead>;
}

/** Changes to another lane, because another connection writes to this one. */
export function changeLane(lane: AuditLane): void {
  lane.number = Math.floor(Math.random() * LANES);
  lane.heads.clear();
}

const ENVIRONMENT = sql.placeholder('environmentId');
const given = (name: string) => sql`${sql.placeholder(name)}`;

/**
 * The audit chains of an environment. Each writing connection uses its own chain, so that transactions on different
 * connections do not wait for each other. The appends of one transaction are linked in memory, and its commit writes
 * the last record.
 */
export function createAuditLanes({ db, once }: Statements, lane: AuditLane): AuditHeads {
  const ordinal = once(() =>
    db.select({ ordinal: environments.ordinal }).from(environments).where(eq(environments.id, ENVIRONMENT)).prepare(),
  );
  const stored = once(() =>
    db
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
  /** The statement fails if the end of the chain is not the expected one: the commit may have been sent with it already. */
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
  /** By environment: the record before the first append of the transaction, and the last appended record. */
  let moved = new Map<EnvironmentId, { before: AuditHead; head: AuditHead }>();

  /** Returns the last record of the lane; for an empty lane, the `seq` before its first record, with the hash `GENESIS`. */
  async function endOf(environmentId: EnvironmentId): Promise<AuditHead> {
    const known = lane.heads.get(environmentId) ?? (await stored().get({ environmentId, lane: lane.number }));
    if (known) return known;
    const low = ((await ordinal().get({ environmentId }))?.ordinal ?? 0) * ENVIRONMENT_SIZE;
    return { seq: low + lane.number * LANE_SIZE, hash: GENESIS };
  }

  return {
    async next(environmentId) {
      const known = moved.get(environmentId);
      if (known) return known.head;
      const end = await endOf(environmentId);
      moved.set(environmentId, { before: end, head: end });
      return end;
    },
    async chains(environmentId) {
      const own = moved.get(environmentId)?.head;
      const heads = await all().all({ environmentId });
      const others = heads.filter((head) => own === undefined || startOf(head) !== startOf(own));
      return (own ? [...others, own] : others).map((head) => {
        const start = startOf(head);
        return { start, limit: start + LANE_SIZE - 1, head };
      });
    },
    async total(environmentId) {
      const { before, head } = moved.get(environmentId) ?? {};
      const appended = before && head ? head.seq - before.seq : 0;
      return ((await total().get({ environmentId }))?.total ?? 0) + appended;
    },
    move(environmentId, head) {
      moved.set(environmentId, { before: moved.get(environmentId)?.before ?? head, head });
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
        await Promise.all(
          [...moved].flatMap(([environmentId, { before, head }]) =>
            head.seq === before.seq
              ? []
              : [moveOn().run({ environmentId, ...head, before: before.seq, beforeHash: before.hash })],
          ),
        );
      },
    },
  };
}

function startOf({ seq }: AuditHead): number {
  return Math.floor(seq / LANE_SIZE) * LANE_SIZE;
}

/** Whether a unit failed because another connection has appended to the same chain. */
export function isLaneTaken(error: unknown): boolean {
  if (error instanceof UniqueError) return error.constraint === 'audit_log_pkey';
  return error instanceof ConflictError && error.code === LANE_TAKEN;
}
