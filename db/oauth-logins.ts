import { deleteOldest } from './delete-oldest.ts';
import { and, count, eq, gt, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { LoginState, LoginStep, NewOAuthLogin, OAuthLoginRow } from './rows/oauth-logins.ts';
import { oauthLogins } from './schema.ts';
import type { Statements } from './statements.ts';

export interface OAuthLoginReads {
  /** Returns the login that a secret belongs to, in any state, even if it has expired. */
  byToken(environmentId: EnvironmentId, tokenDigest: Buffer): Promise<OAuthLoginRow | undefined>;
  /** Counts the logins that expire between two times, up to `limit`. */
  countExpiring(environmentId: EnvironmentId, after: number, until: number, limit: number): Promise<number>;
}

export interface OAuthLoginWrites {
  insert(environmentId: EnvironmentId, login: NewOAuthLogin): Promise<void>;
  /**
   * Changes the state of a login, if the login still has the expected state and secret and has not expired.
   *
   * @returns false if it does not; then nothing has changed
   */
  advance(
    environmentId: EnvironmentId,
    from: { id: string; state: LoginState; tokenDigest: Buffer; now: number },
    to: LoginStep,
  ): Promise<boolean>;
  /** @returns false when there is none */
  delete(environmentId: EnvironmentId, id: string): Promise<boolean>;
  /** Removes some expired logins, the oldest first. @returns how many */
  sweep(environmentId: EnvironmentId, now: number, limit: number): Promise<number>;
}

export type OAuthLoginRepository = OAuthLoginReads & OAuthLoginWrites;

const t = oauthLogins;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const given = (name: string) => sql`${sql.placeholder(name)}`;

export function createOAuthLoginRepository({ db, once }: Statements): OAuthLoginRepository {
  const byToken = once(() =>
    db
      .select()
      .from(t)
      .where(and(withinEnvironment, eq(t.tokenDigest, sql.placeholder('tokenDigest'))))
      .prepare(),
  );
  const countExpiring = once(() => {
    const found = db
      .select({ one: sql<number>`1`.as('one') })
      .from(t)
      .where(
        and(withinEnvironment, gt(t.expiresAt, sql.placeholder('after')), lte(t.expiresAt, sql.placeholder('until'))),
      )
      .limit(sql.placeholder('limit'))
      .as('found');
    return db.select({ total: count() }).from(found).prepare();
  });
  const advance = once(() =>
    db
      .update(t)
      .set({
        state: given('state'),
        tokenDigest: given('tokenDigest'),
        expiresAt: given('expiresAt'),
        subject: given('subject'),
        grantId: given('grantId'),
      })
      .where(
        and(
          withinEnvironment,
          eq(t.id, sql.placeholder('id')),
          eq(t.state, sql.placeholder('fromState')),
          eq(t.tokenDigest, sql.placeholder('fromDigest')),
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
    async countExpiring(environmentId, after, until, limit) {
      return (await countExpiring().get({ environmentId, after, until, limit }))?.total ?? 0;
    },
    async insert(environmentId, login) {
      await db
        .insert(t)
        .values({ ...login, environmentId, state: 'OPEN', subject: null, grantId: null })
        .run();
    },
    async advance(environmentId, from, { subject, ...to }) {
      const { id, state: fromState, tokenDigest: fromDigest, now } = from;
      const values = {
        ...to,
        subject: subject && JSON.stringify(subject),
        environmentId,
        id,
        fromState,
        fromDigest,
        now,
      };
      return (await advance().run(values)).changes === 1;
    },
    async delete(environmentId, id) {
      return (await remove().run({ environmentId, id })).changes === 1;
    },
    async sweep(environmentId, now, limit) {
      return (await sweep().run({ environmentId, now, limit })).changes;
    },
  };
}
