import { and, asc, count, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList } from './keyset.ts';
import { orderedById } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type { WebhookEndpointChange, WebhookEndpointRow } from './rows/webhooks.ts';
import { webhookEndpoints } from './schema.ts';
import type { Statements } from './statements.ts';

export interface WebhookEndpointReads {
  get(environmentId: EnvironmentId, id: string): Promise<WebhookEndpointRow | undefined>;
  list(environmentId: EnvironmentId, page: PageRequest): Promise<Page<WebhookEndpointRow>>;
  /** Returns the enabled endpoints, the oldest first. */
  enabled(environmentId: EnvironmentId): Promise<WebhookEndpointRow[]>;
  count(environmentId: EnvironmentId): Promise<number>;
}

export interface WebhookEndpointWrites {
  insert(environmentId: EnvironmentId, endpoint: Omit<WebhookEndpointRow, 'environmentId'>): Promise<void>;
  /** @returns false if the endpoint does not exist */
  update(environmentId: EnvironmentId, id: string, change: WebhookEndpointChange): Promise<boolean>;
  /** @returns false if the endpoint does not exist */
  delete(environmentId: EnvironmentId, id: string): Promise<boolean>;
}

export type WebhookEndpointRepository = WebhookEndpointReads & WebhookEndpointWrites;

const t = webhookEndpoints;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneEndpoint = and(withinEnvironment, eq(t.id, sql.placeholder('id'))) as SQL;

export function createWebhookEndpointRepository(statements: Statements): WebhookEndpointRepository {
  const { db, once } = statements;
  const get = once(() => db.select().from(t).where(oneEndpoint).prepare());
  const enabled = once(() =>
    db
      .select()
      .from(t)
      .where(and(withinEnvironment, eq(t.enabled, true)))
      .orderBy(asc(t.id))
      .prepare(),
  );
  const total = once(() => db.select({ total: count() }).from(t).where(withinEnvironment).prepare());
  const remove = once(() => db.delete(t).where(oneEndpoint).prepare());
  const list = createKeysetList<WebhookEndpointRow, never>(statements, {
    ...orderedById(t.id, withinEnvironment),
    filters: {},
    select: (where, order) => db.select().from(t).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => db.select({ total: count() }).from(t).where(where).prepare(),
  });

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    list: (environmentId, page) => list.page(environmentId, {}, page),
    enabled: (environmentId) => enabled().all({ environmentId }),
    async count(environmentId) {
      return (await total().get({ environmentId }))?.total ?? 0;
    },
    async insert(environmentId, endpoint) {
      await db
        .insert(t)
        .values({ ...endpoint, environmentId })
        .run();
    },
    async update(environmentId, id, change) {
      const one = and(eq(t.environmentId, environmentId), eq(t.id, id));
      return (await db.update(t).set(change).where(one).run()).changes === 1;
    },
    async delete(environmentId, id) {
      return (await remove().run({ environmentId, id })).changes === 1;
    },
  };
}
