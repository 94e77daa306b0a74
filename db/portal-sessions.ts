import { deleteOldest } from './delete-oldest.ts';
import { and, eq, gt, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { NewPortalSession, PortalSessionRow } from './rows/portal-sessions.ts';
import { portalSessions } from './schema.ts';
import type { Statements } from './statements.ts';

export interface PortalSessionReads {
  /** Returns the session that a secret belongs to, in any state, even if it has expired. */
  byToken(environmentId: EnvironmentId, tokenDigest: Buffer): Promise<PortalSessionRow | undefined>;
}

export interface PortalSessionWrites {
  insert(environmentId: EnvironmentId, session: NewPortalSession): Promise<void>;
  /**
   * Opens a session whose one-time URL was not used and has not expired. The secret of the URL is replaced.
   *
   * @returns false if it was used, has expired or was deleted; then nothing has changed
   */
  open(
    environmentId: EnvironmentId,
    from: { tokenDigest: Buffer; now: number },
    to: { tokenDigest: Buffer; expiresAt: number },
  ): Promise<boolean>;
  /** @returns false when there is none */
  delete(environmentId: EnvironmentId, id: string): Promise<boolean>;
  /** Removes some expired sessions, the oldest first. @returns how many */
  sweep(environmentId: EnvironmentId, now: number, limit: number): Promise<number>;
}

export type PortalSessionRepository = PortalSessionReads & PortalSessionWrites;

const t = portalSessions;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const given = (name: string) => sql`${sql.placeholder(name)}`;

export function createPortalSessionRepository({ db, once }: Statements): PortalSessionRepository {
  const byToken = once(() =>
    db
      .select()
      .from(t)
      .where(and(withinEnvironment, eq(t.tokenDigest, sql.placeholder('tokenDigest'))))
      .prepare(),
  );
  const open = once(() =>
    db
      .update(t)
      .set({ state: 'OPEN', tokenDigest: given('tokenDigest'), expiresAt: given('expiresAt') })
      .where(
        and(
          withinEnvironment,
          eq(t.tokenDigest, sql.placeholder('fromDigest')),
          eq(t.state, 'CREATED'),
          gt(t.expiresAt, sql.placeholder('now')),
        ),
      )
      .prepare(),
  );
  const remove = once(() =>
    db
      .delete(t)
      .where(and(withinEnvironment, eq(t.id, sql.placeholder('id'))) as SQL)
      .prepare(),
  );
  const sweep = once(() =>
    deleteOldest(db, t, t.id, and(withinEnvironment, lte(t.expiresAt, sql.placeholder('now'))), t.expiresAt),
  );

  return {
    byToken: (environmentId, tokenDigest) => byToken().get({ environmentId, tokenDigest }),
    async insert(environmentId, session) {
      await db
        .insert(t)
        .values({ ...session, environmentId, state: 'CREATED' })
        .run();
    },
    async open(environmentId, { tokenDigest: fromDigest, now }, to) {
      return (await open().run({ environmentId, fromDigest, now, ...to })).changes === 1;
    },
    async delete(environmentId, id) {
      return (await remove().run({ environmentId, id })).changes === 1;
    },
    async sweep(environmentId, now, limit) {
      return (await sweep().run({ environmentId, now, limit })).changes;
    },
  };
}
