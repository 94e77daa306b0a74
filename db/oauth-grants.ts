import { deleteOldest } from './delete-oldest.ts';
import { and, eq, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList, type Filter } from './keyset.ts';
import { countUpTo, placesOf } from './large-list.ts';
import { orderedById } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type { GrantFilters, GrantUser, NewOAuthGrant, OAuthGrantRow } from './rows/oauth-grants.ts';
import { oauthGrants } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Statements } from './statements.ts';

export interface OAuthGrantReads {
  get(environmentId: EnvironmentId, id: string): Promise<OAuthGrantRow | undefined>;
  /** Newest first. */
  list(environmentId: EnvironmentId, filters: GrantFilters, page: PageRequest): Promise<Page<OAuthGrantRow>>;
  /** The newest grants that match the filters, without a count. */
  some(environmentId: EnvironmentId, filters: GrantFilters, limit: number): Promise<OAuthGrantRow[]>;
  /** Returns the grants of exactly this user at an MCP server, newest first. */
  ofUser(environmentId: EnvironmentId, user: GrantUser, serverId: string): Promise<OAuthGrantRow[]>;
}

export interface OAuthGrantWrites {
  insert(environmentId: EnvironmentId, grant: NewOAuthGrant): Promise<void>;
  /**
   * Replaces the refresh token of a grant, if the grant still has this generation, which is the number of its valid
   * refresh token.
   *
   * @returns false if it has another generation or was deleted
   */
  rotate(
    environmentId: EnvironmentId,
    id: string,
    generation: number,
    next: { retiredAt: number[]; usedAt: number; expiresAt: number },
  ): Promise<boolean>;
  /** @returns false when there is none */
  delete(environmentId: EnvironmentId, id: string): Promise<boolean>;
  /** Removes some expired grants, the oldest first. @returns how many */
  sweep(environmentId: EnvironmentId, now: number, limit: number): Promise<number>;
}

export type OAuthGrantRepository = OAuthGrantReads & OAuthGrantWrites;

const t = oauthGrants;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneGrant = and(withinEnvironment, eq(t.id, sql.placeholder('id'))) as SQL;

/** The most selective filter first: its index is used. */
const FILTERS: Record<keyof GrantFilters, Filter> = {
  userId: (noIndex) => sql`${noIndex}${t.userId} = ${sql.placeholder('userId')}`,
  identifier: (noIndex) => sql`${noIndex}${t.identifier} = ${sql.placeholder('identifier')}`,
  organizationId: (noIndex) => sql`${noIndex}${t.organizationId} = ${sql.placeholder('organizationId')}`,
  clientId: (noIndex) => sql`${noIndex}${t.clientId} = ${sql.placeholder('clientId')}`,
  serverId: (noIndex) => sql`${noIndex}${t.serverId} = ${sql.placeholder('serverId')}`,
};

export function createOAuthGrantRepository(statements: Statements, pacing: Pacing): OAuthGrantRepository {
  const { db, once } = statements;
  const { noIndex } = statements.dialect;
  const get = once(() => db.select().from(t).where(oneGrant).prepare());
  const ofUser = once(() =>
    db
      .select()
      .from(t)
      .where(
        and(
          withinEnvironment,
          eq(t.identifier, sql.placeholder('identifier')),
          sql`${noIndex}${t.userId} = ${sql.placeholder('userId')}`,
          sql`${noIndex}${t.organizationId} = ${sql.placeholder('organizationId')}`,
          sql`${noIndex}${t.serverId} = ${sql.placeholder('serverId')}`,
        ),
      )
      .orderBy(sql`${t.id} desc`)
      .prepare(),
  );
  const rotate = once(() =>
    db
      .update(t)
      .set({
        generation: sql`${t.generation} + 1`,
        retiredAt: sql`${sql.placeholder('retiredAt')}`,
        usedAt: sql`${sql.placeholder('usedAt')}`,
        expiresAt: sql`${sql.placeholder('expiresAt')}`,
      })
      .where(and(oneGrant, eq(t.generation, sql.placeholder('generation'))))
      .prepare(),
  );
  const remove = once(() => db.delete(t).where(oneGrant).prepare());
  const sweep = once(() =>
    deleteOldest(db, t, t.id, and(withinEnvironment, lte(t.expiresAt, sql.placeholder('now'))), t.expiresAt),
  );
  const list = createKeysetList<OAuthGrantRow, keyof GrantFilters>(statements, {
    ...orderedById(t.id, withinEnvironment),
    filters: FILTERS,
    select: (where, order) => db.select().from(t).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => countUpTo(db, t, where),
    large: {
      lead: async ([first]) => first,
      places: (where, order) => placesOf(db, t, t.id, where, order),
      pacing,
    },
  });

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    list: (environmentId, filters, page) => list.page(environmentId, filters, page),
    some: async (environmentId, filters, limit) => {
      const read = await list.rows(environmentId, { ...filters });
      return read('older', undefined, limit);
    },
    ofUser: (environmentId, { organizationId, userId, identifier }, serverId) =>
      ofUser().all({ environmentId, organizationId, userId, identifier, serverId }),
    async insert(environmentId, grant) {
      await db
        .insert(t)
        .values({ ...grant, environmentId })
        .run();
    },
    async rotate(environmentId, id, generation, { retiredAt, ...next }) {
      const values = { ...next, retiredAt: JSON.stringify(retiredAt), environmentId, id, generation };
      return (await rotate().run(values)).changes === 1;
    },
    async delete(environmentId, id) {
      return (await remove().run({ environmentId, id })).changes === 1;
    },
    async sweep(environmentId, now, limit) {
      return (await sweep().run({ environmentId, now, limit })).changes;
    },
  };
}
