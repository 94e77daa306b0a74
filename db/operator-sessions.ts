import { deleteOldest } from './delete-oldest.ts';
import { and, count, eq, gt, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList } from './keyset.ts';
import { everywhere } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type { NewOperatorSession, OperatorSessionRow } from './rows/operator-sessions.ts';
import { operatorSessions } from './schema.ts';
import type { Statements } from './statements.ts';

export interface OperatorSessionReads {
  get(environmentId: EnvironmentId, id: string): Promise<OperatorSessionRow | undefined>;
  /** Returns the session that a secret belongs to, even if it has expired. */
  byToken(environmentId: EnvironmentId, tokenDigest: Buffer): Promise<OperatorSessionRow | undefined>;
  /**
   * Counts the sessions that have not expired, up to `limit`. One-time addresses that no operator has opened yet are
   * included.
   */
  countLive(environmentId: EnvironmentId, now: number, limit: number): Promise<number>;
  /** Newest first. */
  list(environmentId: EnvironmentId, page: PageRequest): Promise<Page<OperatorSessionRow>>;
}

export interface OperatorSessionWrites {
  insert(environmentId: EnvironmentId, session: NewOperatorSession): Promise<void>;
  /**
   * Opens the session of a one-time address that has not expired: its secret is replaced, so that the address cannot be
   * used again.
   *
   * @returns false if the address was used, or has expired
   */
  open(
    environmentId: EnvironmentId,
    offered: { id: string; tokenDigest: Buffer; now: number },
    opened: { tokenDigest: Buffer; expiresAt: number },
  ): Promise<boolean>;
  /** Records that a session is in use. @returns false when there is none */
  touch(environmentId: EnvironmentId, id: string, usedAt: number): Promise<boolean>;
  /** @returns false when there is none */
  delete(environmentId: EnvironmentId, id: string): Promise<boolean>;
  /** Removes some expired sessions, the oldest first. @returns how many */
  sweep(environmentId: EnvironmentId, now: number, limit: number): Promise<number>;
}

export type OperatorSessionRepository = OperatorSessionReads & OperatorSessionWrites;

const t = operatorSessions;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneSession = and(withinEnvironment, eq(t.id, sql.placeholder('id'))) as SQL;
const given = (name: string) => sql`${sql.placeholder(name)}`;

export function createOperatorSessionRepository(statements: Statements): OperatorSessionRepository {
  const { db, once } = statements;
  const get = once(() => db.select().from(t).where(oneSession).prepare());
  const byToken = once(() =>
    db
      .select()
      .from(t)
      .where(and(withinEnvironment, eq(t.tokenDigest, sql.placeholder('tokenDigest'))))
      .prepare(),
  );
  const countLive = once(() => {
    const live = db
      .select({ one: sql<number>`1`.as('one') })
      .from(t)
      .where(and(withinEnvironment, gt(t.expiresAt, sql.placeholder('now'))))
      .limit(sql.placeholder('limit'))
      .as('live');
    return db.select({ total: count() }).from(live).prepare();
  });
  const open = once(() =>
    db
      .update(t)
      .set({ state: 'OPEN', tokenDigest: given('tokenDigest'), usedAt: given('now'), expiresAt: given('expiresAt') })
      .where(
        and(
          oneSession,
          eq(t.state, 'OFFERED'),
          eq(t.tokenDigest, sql.placeholder('offeredDigest')),
          gt(t.expiresAt, sql.placeholder('now')),
        ),
      )
      .prepare(),
  );
  const touch = once(() =>
    db
      .update(t)
      .set({ usedAt: given('usedAt') })
      .where(oneSession)
      .prepare(),
  );
  const remove = once(() => db.delete(t).where(oneSession).prepare());
  const sweep = once(() =>
    deleteOldest(db, t, t.id, and(withinEnvironment, lte(t.expiresAt, sql.placeholder('now'))), t.expiresAt),
  );
  const list = createKeysetList<OperatorSessionRow, never>(statements, {
    order: t.id,
    scope: everywhere(withinEnvironment),
    filters: {},
    select: (where, order) => db.select().from(t).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => db.select({ total: count() }).from(t).where(where).prepare(),
    placeOf: (row) => row.id,
    placeOfCursor: async (_environmentId, id) => id,
  });

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    byToken: (environmentId, tokenDigest) => byToken().get({ environmentId, tokenDigest }),
    async countLive(environmentId, now, limit) {
      return (await countLive().get({ environmentId, now, limit }))?.total ?? 0;
    },
    list: (environmentId, page) => list.page(environmentId, {}, page),
    async insert(environmentId, session) {
      await db
        .insert(t)
        .values({ ...session, environmentId })
        .run();
    },
    async open(environmentId, { id, tokenDigest: offeredDigest, now }, opened) {
      return (await open().run({ environmentId, id, offeredDigest, now, ...opened })).changes === 1;
    },
    async touch(environmentId, id, usedAt) {
      return (await touch().run({ environmentId, id, usedAt })).changes === 1;
    },
    async delete(environmentId, id) {
      return (await remove().run({ environmentId, id })).changes === 1;
    },
    async sweep(environmentId, now, limit) {
      return (await sweep().run({ environmentId, now, limit })).changes;
    },
  };
}
