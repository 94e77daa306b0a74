import { and, asc, count, desc, eq, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList } from './keyset.ts';
import { orderedById } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type { ApiClientRow, ApiClientSecretRow, NewApiClient, NewApiClientSecret } from './rows/api-clients.ts';
import { apiClientSecrets, apiClients } from './schema.ts';
import type { Statements } from './statements.ts';

export interface ApiClientReads {
  /** Counts the clients by whether they are enabled. */
  totals(environmentId: EnvironmentId): Promise<{ enabled: number; disabled: number }>;
  /** Returns the client with its secrets that are valid at `now`, newest first. */
  get(
    environmentId: EnvironmentId,
    id: string,
    now: number,
  ): Promise<(ApiClientRow & { secrets: ApiClientSecretRow[] }) | undefined>;
  /**
   * Returns the state that every request is checked against: a token that was issued for an earlier generation of the
   * client is rejected.
   */
  state(environmentId: EnvironmentId, id: string): Promise<{ enabled: boolean; generation: number } | undefined>;
  list(environmentId: EnvironmentId, page: PageRequest): Promise<Page<ApiClientRow>>;
}

export interface ApiClientWrites {
  /** Removes the disabled client whose last change is the oldest. @returns its id; undefined if none is disabled */
  removeFirstDisabled(environmentId: EnvironmentId): Promise<string | undefined>;
  insert(environmentId: EnvironmentId, client: NewApiClient, secret: NewApiClientSecret): Promise<void>;
  /**
   * Disables the client and increases its generation, which invalidates all its tokens. @returns false if there is no
   * enabled client with this id
   */
  disable(environmentId: EnvironmentId, id: string, now: number): Promise<boolean>;
  /**
   * Adds a secret. The previous secret stays valid for at most `overlapMs`, and older ones are removed, so at most two
   * are valid.
   *
   * @returns false if there is no such client
   */
  rotate(
    environmentId: EnvironmentId,
    id: string,
    secret: NewApiClientSecret,
    times: { now: number; overlapMs: number },
  ): Promise<boolean>;
}

export type ApiClientRepository = ApiClientReads & ApiClientWrites;

const ENVIRONMENT = sql.placeholder('environmentId');
const ID = sql.placeholder('id');
const NOW = sql.placeholder('now');
const withinEnvironment = eq(apiClients.environmentId, ENVIRONMENT);
const oneClient = and(eq(apiClients.id, ID), withinEnvironment) as SQL;
const itsSecrets = and(eq(apiClientSecrets.clientId, ID), eq(apiClientSecrets.environmentId, ENVIRONMENT)) as SQL;

const clientColumns = {
  id: apiClients.id,
  name: apiClients.name,
  scopes: apiClients.scopes,
  enabled: apiClients.enabled,
  generation: apiClients.generation,
  createdAt: apiClients.createdAt,
  updatedAt: apiClients.updatedAt,
};

const secretColumns = {
  id: apiClientSecrets.id,
  digest: apiClientSecrets.digest,
  prefix: apiClientSecrets.prefix,
  createdAt: apiClientSecrets.createdAt,
  expiresAt: apiClientSecrets.expiresAt,
};

export function createApiClientRepository(statements: Statements): ApiClientRepository {
  const { db, once } = statements;
  const get = once(() => db.select(clientColumns).from(apiClients).where(oneClient).prepare());
  const state = once(() =>
    db
      .select({ enabled: apiClients.enabled, generation: apiClients.generation })
      .from(apiClients)
      .where(oneClient)
      .prepare(),
  );
  const liveSecrets = once(() =>
    db
      .select(secretColumns)
      .from(apiClientSecrets)
      .where(and(itsSecrets, sql`(${apiClientSecrets.expiresAt} is null or ${apiClientSecrets.expiresAt} > ${NOW})`))
      .orderBy(desc(apiClientSecrets.createdAt), desc(apiClientSecrets.id))
      .prepare(),
  );
  const disable = once(() =>
    db
      .update(apiClients)
      .set({ enabled: false, generation: sql`${apiClients.generation} + 1`, updatedAt: sql`${NOW}` })
      .where(and(oneClient, eq(apiClients.enabled, true)))
      .prepare(),
  );
  const totals = once(() =>
    db
      .select({ enabled: apiClients.enabled, total: count() })
      .from(apiClients)
      .where(withinEnvironment)
      .groupBy(apiClients.enabled)
      .prepare(),
  );
  // Ordered by `updatedAt`, because the time of disabling is not stored, and disabling is usually the last change.
  const firstDisabled = once(() =>
    db
      .select({ id: apiClients.id })
      .from(apiClients)
      .where(and(withinEnvironment, eq(apiClients.enabled, false)))
      .orderBy(asc(apiClients.updatedAt), asc(apiClients.id))
      .limit(1)
      .prepare(),
  );
  const remove = once(() => db.delete(apiClients).where(oneClient).prepare());
  const list = createKeysetList<ApiClientRow, never>(statements, {
    ...orderedById(apiClients.id, withinEnvironment),
    filters: {},
    select: (where, order) =>
      db.select(clientColumns).from(apiClients).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => db.select({ total: count() }).from(apiClients).where(where).prepare(),
  });

  async function insertSecret(
    environmentId: EnvironmentId,
    clientId: string,
    secret: NewApiClientSecret,
  ): Promise<void> {
    await db
      .insert(apiClientSecrets)
      .values({ ...secret, environmentId, clientId })
      .run();
  }

  return {
    async get(environmentId, id, now) {
      const client = await get().get({ environmentId, id });
      return client && { ...client, secrets: await liveSecrets().all({ environmentId, id, now }) };
    },
    state: (environmentId, id) => state().get({ environmentId, id }),
    list: (environmentId, page) => list.page(environmentId, {}, page),
    async insert(environmentId, client, secret) {
      const updatedAt = client.createdAt;
      await db
        .insert(apiClients)
        .values({ ...client, environmentId, enabled: true, generation: 1, updatedAt })
        .run();
      await insertSecret(environmentId, client.id, secret);
    },
    async totals(environmentId) {
      const rows = await totals().all({ environmentId });
      const of = (enabled: boolean) => rows.find((row) => row.enabled === enabled)?.total ?? 0;
      return { enabled: of(true), disabled: of(false) };
    },
    async removeFirstDisabled(environmentId) {
      const found = await firstDisabled().get({ environmentId });
      if (found) await remove().run({ environmentId, id: found.id });
      return found?.id;
    },
    async disable(environmentId, id, now) {
      return (await disable().run({ environmentId, id, now })).changes === 1;
    },
    async rotate(environmentId, id, secret, { now, overlapMs }) {
      if ((await get().get({ environmentId, id })) === undefined) return false;
      const [newest] = await liveSecrets().all({ environmentId, id, now });
      const old = and(eq(apiClientSecrets.clientId, id), eq(apiClientSecrets.environmentId, environmentId));
      await db
        .delete(apiClientSecrets)
        .where(and(old, newest && sql`${apiClientSecrets.id} <> ${newest.id}`))
        .run();
      if (newest !== undefined) {
        const expiresAt = Math.min(newest.expiresAt ?? Number.POSITIVE_INFINITY, now + overlapMs);
        await db.update(apiClientSecrets).set({ expiresAt }).where(eq(apiClientSecrets.id, newest.id)).run();
      }
      await insertSecret(environmentId, id, secret);
      await db
        .update(apiClients)
        .set({ updatedAt: now })
        .where(and(eq(apiClients.id, id), eq(apiClients.environmentId, environmentId)))
        .run();
      return true;
    },
  };
}
