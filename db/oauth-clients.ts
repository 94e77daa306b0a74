import { deleteOldest } from './delete-oldest.ts';
import { and, count, eq, gt, lte, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList } from './keyset.ts';
import { orderedById } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type { NewOAuthClient, OAuthClientRow } from './rows/oauth-clients.ts';
import { oauthClients, oauthGrants } from './schema.ts';
import type { Statements } from './statements.ts';

export interface OAuthClientReads {
  get(environmentId: EnvironmentId, id: string): Promise<OAuthClientRow | undefined>;
  /** Newest first. */
  list(environmentId: EnvironmentId, page: PageRequest): Promise<Page<OAuthClientRow>>;
  /** Counts the existing clients that registered themselves from the network address with this digest after a time. */
  countFrom(environmentId: EnvironmentId, originDigest: Buffer, after: number): Promise<number>;
  /** Counts the clients that registered themselves and were never used. */
  countUnused(environmentId: EnvironmentId): Promise<number>;
  /** Counts the clients that registered themselves and were used. */
  countUsed(environmentId: EnvironmentId): Promise<number>;
  /** Returns clients that registered themselves, were used and have no unexpired grant, the least recently used first. */
  withoutGrants(environmentId: EnvironmentId, now: number, limit: number): Promise<OAuthClientRow[]>;
  /** Counts the clients that operators have created. */
  countRegistered(environmentId: EnvironmentId): Promise<number>;
}

export interface OAuthClientWrites {
  insert(environmentId: EnvironmentId, client: NewOAuthClient): Promise<void>;
  /** Records that a client received a token. */
  touch(environmentId: EnvironmentId, id: string, at: number): Promise<void>;
  /** @returns false when there is none */
  delete(environmentId: EnvironmentId, id: string): Promise<boolean>;
  /** Removes some clients that registered themselves before a time and were never used. @returns how many */
  sweepUnused(environmentId: EnvironmentId, before: number, limit: number): Promise<number>;
}

export type OAuthClientRepository = OAuthClientReads & OAuthClientWrites;

const t = oauthClients;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneClient = and(withinEnvironment, eq(t.id, sql.placeholder('id'))) as SQL;
// A literal instead of a parameter, so that the database can use the partial indexes.
const unused = and(withinEnvironment, sql`${t.usedAt} is null and ${t.kind} = 'DYNAMIC'`) as SQL;
const used = and(withinEnvironment, sql`${t.usedAt} is not null and ${t.kind} = 'DYNAMIC'`) as SQL;

export function createOAuthClientRepository(statements: Statements): OAuthClientRepository {
  const { db, once } = statements;
  const get = once(() => db.select().from(t).where(oneClient).prepare());
  const countFrom = once(() =>
    db
      .select({ total: count() })
      .from(t)
      .where(
        and(
          withinEnvironment,
          sql`${t.originDigest} is not null`,
          eq(t.originDigest, sql.placeholder('originDigest')),
          gt(t.createdAt, sql.placeholder('after')),
        ),
      )
      .prepare(),
  );
  const countUnused = once(() => db.select({ total: count() }).from(t).where(unused).prepare());
  const countUsed = once(() => db.select({ total: count() }).from(t).where(used).prepare());
  const withoutGrants = once(() => {
    const grants = db
      .select({ id: oauthGrants.id })
      .from(oauthGrants)
      .where(
        and(
          eq(oauthGrants.environmentId, t.environmentId),
          eq(oauthGrants.clientId, t.id),
          gt(oauthGrants.expiresAt, sql.placeholder('now')),
        ),
      );
    return db
      .select()
      .from(t)
      .where(and(used, sql`not exists ${grants}`))
      .orderBy(t.usedAt)
      .limit(sql.placeholder('limit'))
      .prepare();
  });
  const countRegistered = once(() =>
    db
      .select({ total: count() })
      .from(t)
      .where(and(withinEnvironment, eq(t.kind, 'REGISTERED')))
      .prepare(),
  );
  const touch = once(() =>
    db
      .update(t)
      .set({ usedAt: sql`${sql.placeholder('at')}` })
      .where(oneClient)
      .prepare(),
  );
  const remove = once(() => db.delete(t).where(oneClient).prepare());
  const sweepUnused = once(() =>
    deleteOldest(db, t, t.id, and(unused, lte(t.createdAt, sql.placeholder('before'))), t.createdAt),
  );
  const list = createKeysetList<OAuthClientRow, never>(statements, {
    ...orderedById(t.id, withinEnvironment),
    filters: {},
    select: (where, order) => db.select().from(t).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => db.select({ total: count() }).from(t).where(where).prepare(),
  });

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    list: (environmentId, page) => list.page(environmentId, {}, page),
    async countFrom(environmentId, originDigest, after) {
      return (await countFrom().get({ environmentId, originDigest, after }))?.total ?? 0;
    },
    async countUnused(environmentId) {
      return (await countUnused().get({ environmentId }))?.total ?? 0;
    },
    async countUsed(environmentId) {
      return (await countUsed().get({ environmentId }))?.total ?? 0;
    },
    withoutGrants: (environmentId, now, limit) => withoutGrants().all({ environmentId, now, limit }),
    async countRegistered(environmentId) {
      return (await countRegistered().get({ environmentId }))?.total ?? 0;
    },
    async insert(environmentId, client) {
      await db
        .insert(t)
        .values({ ...client, environmentId, usedAt: null })
        .run();
    },
    async touch(environmentId, id, at) {
      await touch().run({ environmentId, id, at });
    },
    async delete(environmentId, id) {
      return (await remove().run({ environmentId, id })).changes === 1;
    },
    async sweepUnused(environmentId, before, limit) {
      return (await sweepUnused().run({ environmentId, before, limit })).changes;
    },
  };
}
