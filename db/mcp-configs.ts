import { and, count, eq, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import { createKeysetList } from './keyset.ts';
import { orderedById } from './list-by-id.ts';
import type { Page, PageRequest } from './page.ts';
import type { McpConfigChanges, McpConfigRow, NewMcpConfig } from './rows/mcp-configs.ts';
import { mcpConfigs } from './schema.ts';
import type { Statements } from './statements.ts';

export interface McpConfigReads {
  /** Returns the number of configs, and the size of their mappings as JSON, in characters. */
  totals(environmentId: EnvironmentId): Promise<{ count: number; size: number }>;
  get(environmentId: EnvironmentId, id: string): Promise<McpConfigRow | undefined>;
  /** Returns a page, newest first. */
  list(environmentId: EnvironmentId, page: PageRequest): Promise<Page<McpConfigRow>>;
  /** Returns the names of the configs that include a connection. */
  namesWith(environmentId: EnvironmentId, connectionId: string): Promise<string[]>;
  /** Returns the names of the configs that list a tool. */
  namesWithTool(environmentId: EnvironmentId, tool: string): Promise<string[]>;
}

export interface McpConfigWrites {
  /** @throws UniqueError `mcp_configs_name` */
  insert(environmentId: EnvironmentId, config: NewMcpConfig): Promise<void>;
  /**
   * Updates a config if it still has this version. @returns false if its version has changed or it was deleted
   *
   * @throws UniqueError `mcp_configs_name`
   */
  update(environmentId: EnvironmentId, id: string, version: number, changes: McpConfigChanges): Promise<boolean>;
  /** @returns false if there is none */
  delete(environmentId: EnvironmentId, id: string): Promise<boolean>;
}

export type McpConfigRepository = McpConfigReads & McpConfigWrites;

const withinEnvironment = eq(mcpConfigs.environmentId, sql.placeholder('environmentId'));
const oneConfig = and(withinEnvironment, eq(mcpConfigs.id, sql.placeholder('id')));

export function createMcpConfigRepository(statements: Statements): McpConfigRepository {
  const { db, once, dialect } = statements;
  const get = once(() => db.select().from(mcpConfigs).where(oneConfig).prepare());
  const namesWith = once(() =>
    db
      .select({ name: mcpConfigs.name })
      .from(mcpConfigs)
      .where(
        and(
          withinEnvironment,
          dialect.hasElement(mcpConfigs.mappings, 'connectionId', sql.placeholder('connectionId')),
        ),
      )
      .orderBy(mcpConfigs.name)
      .prepare(),
  );
  const namesWithTool = once(() =>
    db
      .select({ name: mcpConfigs.name })
      .from(mcpConfigs)
      .where(and(withinEnvironment, dialect.hasElementWith(mcpConfigs.mappings, 'tools', sql.placeholder('tool'))))
      .orderBy(mcpConfigs.name)
      .prepare(),
  );
  const totals = once(() =>
    db
      .select({ count: count(), size: sql<number>`coalesce(sum(length(${mcpConfigs.mappings})), 0)` })
      .from(mcpConfigs)
      .where(withinEnvironment)
      .prepare(),
  );
  const update = once(() =>
    db
      .update(mcpConfigs)
      .set({
        name: sql`${sql.placeholder('name')}`,
        description: sql`${sql.placeholder('description')}`,
        mappings: sql`${sql.placeholder('mappings')}`,
        updatedAt: sql`${sql.placeholder('updatedAt')}`,
        version: sql`${mcpConfigs.version} + 1`,
      })
      .where(and(oneConfig, eq(mcpConfigs.version, sql.placeholder('version'))))
      .prepare(),
  );
  const remove = once(() => db.delete(mcpConfigs).where(oneConfig).prepare());
  const list = createKeysetList<McpConfigRow, never>(statements, {
    ...orderedById(mcpConfigs.id, withinEnvironment),
    filters: {},
    select: (where, order) =>
      db.select().from(mcpConfigs).where(where).orderBy(order).limit(sql.placeholder('limit')).prepare(),
    count: (where) => db.select({ total: count() }).from(mcpConfigs).where(where).prepare(),
  });

  return {
    get: (environmentId, id) => get().get({ environmentId, id }),
    list: (environmentId, page) => list.page(environmentId, {}, page),
    async namesWith(environmentId, connectionId) {
      return (await namesWith().all({ environmentId, connectionId })).map(({ name }) => name);
    },
    async namesWithTool(environmentId, tool) {
      return (await namesWithTool().all({ environmentId, tool })).map(({ name }) => name);
    },
    async totals(environmentId) {
      const row = await totals().get({ environmentId });
      return { count: Number(row?.count ?? 0), size: Number(row?.size ?? 0) };
    },
    async insert(environmentId, config) {
      await db
        .insert(mcpConfigs)
        .values({ ...config, environmentId, version: 1 })
        .run();
    },
    async update(environmentId, id, version, { mappings, ...changes }) {
      const values = { ...changes, mappings: JSON.stringify(mappings), environmentId, id, version };
      return (await update().run(values)).changes === 1;
    },
    async delete(environmentId, id) {
      return (await remove().run({ environmentId, id })).changes === 1;
    },
  };
}
