import { STORAGE } from '../core/budgets.ts';
import { type DataKeys, wrappedDataKeyIn } from './data-keys.ts';
import type { Dialect } from './dialect.ts';
import { and, count, eq, getTableColumns, type SQL, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { RelationError } from './errors.ts';
import { createKeysetList } from './keyset.ts';
import { orderedById } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type {
  ConnectionChanges,
  ConnectionFilters,
  ConnectionRow,
  ConnectionStatus,
  NewConnection,
} from './rows/connections.ts';
import { accountCounts, connections } from './schema.ts';
import type { Pacing } from './slices.ts';
import type { Changes, Statements } from './statements.ts';

export interface ConnectionReads {
  get(environmentId: EnvironmentId, id: string): Promise<ConnectionRow | undefined>;
  byKeyId(environmentId: EnvironmentId, keyId: string): Promise<ConnectionRow | undefined>;
  listByProvider(environmentId: EnvironmentId, providerKey: string): Promise<ConnectionRow[]>;
  list(environmentId: EnvironmentId, filters: ConnectionFilters, page: PageRequest): Promise<Page<ConnectionRow>>;
  /**
   * Reads the matching connections in several statements. Outside of a transaction, other work can run on the event
   * loop between two statements.
   */
  listAll(environmentId: EnvironmentId, filters?: ConnectionFilters): Promise<ConnectionRow[]>;
  /**
   * Returns the number of connections, and the size of their large settings: characters of text, and bytes of encrypted
   * secrets.
   */
  totals(environmentId: EnvironmentId): Promise<{ count: number; size: number }>;
  countAccounts(environmentId: EnvironmentId, id: string): Promise<number>;
}

export interface ConnectionWrites {
  /** @throws UniqueError `connections_key_id` */
  insert(environmentId: EnvironmentId, connection: NewConnection): Promise<void>;
  /** Updates a connection if it still has this version. @returns false if its version has changed or it was deleted */
  update(environmentId: EnvironmentId, id: string, version: number, changes: ConnectionChanges): Promise<boolean>;
  /** Changes the status without checking the version. @returns false if there is no such connection */
  setStatus(environmentId: EnvironmentId, id: string, status: ConnectionStatus, updatedAt: number): Promise<boolean>;
  /** @returns false if there is none. @throws RelationError while it has accounts */
  delete(environmentId: EnvironmentId, id: string): Promise<boolean>;
}

export type ConnectionRepository = ConnectionReads & ConnectionWrites;

const { dataKey, ...ownColumns } = getTableColumns(connections);
const COLUMNS = { ...ownColumns, wrappedDataKey: wrappedDataKeyIn(dataKey) };
const ENVIRONMENT = sql.placeholder('environmentId');
const ID = sql.placeholder('id');
const withinEnvironment = eq(connections.environmentId, ENVIRONMENT);
const oneConnection = and(eq(connections.id, ID), withinEnvironment) as SQL;
/** The columns whose values can be large. */
const LARGE = ['domains', 'scopes', 'allowedTools', 'allowedAddresses', 'clientBinding', 'clientSecretSealed'] as const;
const SIZE = sql.join(
  LARGE.map((name) => sql`coalesce(length(${connections[name]}), 0)`),
  sql` + `,
);
const nextVersion = sql`${connections.version} + 1`;

export function createConnectionRepository(
  statements: Statements,
  dataKeys: DataKeys,
  { yieldToEventLoop }: Pick<Pacing, 'yieldToEventLoop'>,
): ConnectionRepository {
  const { db, once, oncePerShape, dialect } = statements;
  const list = createConnectionList(statements);
  const get = once(() => db.select(COLUMNS).from(connections).where(oneConnection).prepare());
  const byKeyId = once(() =>
    db
      .select(COLUMNS)
      .from(connections)
      .where(and(withinEnvironment, eq(connections.keyId, sql.placeholder('keyId'))))
      .prepare(),
  );
  const totals = once(() =>
    db
      .select({ count: count(), size: sql<number>`coalesce(sum(${SIZE}), 0)` })
      .from(connections)
      .where(withinEnvironment)
      .prepare(),
  );
  const countAccounts = once(() =>
    db
      .select({ total: sql<number>`coalesce(sum(${accountCounts.total}), 0)` })
      .from(accountCounts)
      .where(sql`${accountCounts.connectionId} = (select ${connections.id} from ${connections} where ${oneConnection})`)
      .prepare(),
  );
  const insert = once(() => {
    const values = Object.fromEntries(
      Object.keys(getTableColumns(connections)).map((name) => [name, sql.placeholder(name)]),
    );
    return db
      .insert(connections)
      .values(values as unknown as typeof connections.$inferInsert)
      .prepare();
  });
  const updates = oncePerShape<{ run(values: Record<string, unknown>): Promise<Changes> }>();
  const setStatus = once(() =>
    db
      .update(connections)
      .set({
        status: sql`${sql.placeholder('status')}`,
        updatedAt: sql`${sql.placeholder('updatedAt')}`,
        version: nextVersion,
      })
      .where(oneConnection)
      .prepare(),
  );
  const remove = once(() => db.delete(connections).where(oneConnection).prepare());

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    byKeyId: (environmentId, keyId) => byKeyId().get({ environmentId, keyId }),
    listByProvider: (environmentId, providerKey) =>
      list.all(environmentId, toFilters(dialect, { providerKeys: [providerKey] })),
    list: (environmentId, filters, page) => list.page(environmentId, toFilters(dialect, filters), page),
    async listAll(environmentId, filters = {}) {
      const rows = await list.rows(environmentId, toFilters(dialect, filters));
      const found: ConnectionRow[] = [];
      for (;;) {
        const some = await rows('older', found.at(-1)?.id, STORAGE.rowsPerTurn);
        found.push(...some);
        if (some.length < STORAGE.rowsPerTurn) return found;
        await yieldToEventLoop();
      }
    },
    async totals(environmentId) {
      const row = await totals().get({ environmentId });
      return { count: Number(row?.count ?? 0), size: Number(row?.size ?? 0) };
    },
    async countAccounts(environmentId, id) {
      return (await countAccounts().get({ environmentId, id }))?.total ?? 0;
    },
    async insert(environmentId, { wrappedDataKey = null, ...connection }) {
      const dataKey = wrappedDataKey && (await dataKeys.add(wrappedDataKey));
      await insert().run({ ...EMPTY, ...connection, environmentId, dataKey });
    },
    async update(environmentId, id, version, { wrappedDataKey, ...rest }) {
      const dataKey = wrappedDataKey && (await dataKeys.add(wrappedDataKey));
      const changes: Record<string, unknown> = { ...rest, dataKey };
      const names = Object.keys(changes).filter((name) => changes[name] !== undefined);
      const statement = updates(names.join(), () => {
        const set = Object.fromEntries(names.map((name) => [name, sql.placeholder(name)]));
        return db
          .update(connections)
          .set({ ...set, version: nextVersion })
          .where(and(oneConnection, sql`${connections.version} = ${sql.placeholder('expectedVersion')}`))
          .prepare();
      });
      const isChanged =
        (await statement.run({ ...changes, environmentId, id, expectedVersion: version })).changes === 1;
      if (!isChanged && dataKey) await dataKeys.wipe(dataKey);
      return isChanged;
    },
    async setStatus(environmentId, id, status, updatedAt) {
      return (await setStatus().run({ environmentId, id, status, updatedAt })).changes === 1;
    },
    async delete(environmentId, id) {
      const used = (await countAccounts().get({ environmentId, id }))?.total ?? 0;
      if (used > 0) throw new RelationError(`the connection has ${used} accounts`);
      return (await remove().run({ environmentId, id })).changes === 1;
    },
  };
}

const EMPTY: Partial<ConnectionRow> = {
  enabled: true,
  organizationId: '',
  organizationName: '',
  domains: [],
  clientId: null,
  kekId: null,
  clientSecretSealed: null,
  clientGeneration: 0,
  clientBinding: null,
  scopes: [],
  allowedTools: null,
  allowedAddresses: null,
  mcpTimeoutSeconds: null,
  postUserVerifyRedirectUrl: null,
  settings: {},
  version: 1,
};

function toFilters({ list }: Dialect, { enabled, providerKeys, types, ...rest }: ConnectionFilters) {
  return {
    ...rest,
    providerKeys: providerKeys && list(providerKeys),
    types: types && list(types),
    enabled: enabled === undefined ? undefined : Number(enabled),
  };
}

function createConnectionList(statements: Statements) {
  const { db, dialect } = statements;
  return createKeysetList<ConnectionRow, keyof ConnectionFilters>(statements, {
    ...orderedById(connections.id, withinEnvironment),
    filters: {
      organizationId: () => sql`${connections.organizationId} = ${sql.placeholder('organizationId')}`,
      providerKeys: () => dialect.isIn(sql`${dialect.noIndex}${connections.providerKey}`, 'providerKeys'),
      types: () => dialect.isIn(connections.type, 'types'),
      status: () => sql`${connections.status} = ${sql.placeholder('status')}`,
      enabled: () => sql`${connections.enabled} = ${sql.placeholder('enabled')}`,
    },
    select: (where, order) =>
      db.select(COLUMNS).from(connections).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => db.select({ total: count() }).from(connections).where(where).prepare(),
  });
}
