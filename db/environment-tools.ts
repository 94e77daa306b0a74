import { createHash } from 'node:crypto';
import { conflictOf } from './columns.ts';
import { and, asc, count, eq, gt, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type {
  EnvironmentToolEntry,
  EnvironmentToolRow,
  NewEnvironmentTool,
  ToolListRequest,
} from './rows/environment-tools.ts';
import { environmentTools } from './schema.ts';
import type { Statements } from './statements.ts';
import { createToolRevisions } from './tool-revisions.ts';

export interface EnvironmentToolReads {
  get(environmentId: EnvironmentId, name: string): Promise<EnvironmentToolRow | undefined>;
  /** Returns tools sorted by name. */
  list(environmentId: EnvironmentId, request: ToolListRequest): Promise<EnvironmentToolRow[]>;
  /** Returns all tools of a provider, sorted by name. */
  listByConnector(environmentId: EnvironmentId, connector: string): Promise<EnvironmentToolRow[]>;
  /** Returns all tools of a provider without their definitions, sorted by name. */
  entriesOf(environmentId: EnvironmentId, connector: string): Promise<EnvironmentToolEntry[]>;
  /** Returns the names of a provider's tools, sorted. */
  namesOf(environmentId: EnvironmentId, connector: string): Promise<string[]>;
  /** Returns the tools of a provider that wait for a review. Only tools of MCP servers do. */
  flaggedOf(environmentId: EnvironmentId, connector: string): Promise<Pick<EnvironmentToolRow, 'name' | 'flagged'>[]>;
  count(environmentId: EnvironmentId): Promise<number>;
  /** Returns the names of all tools, sorted. */
  names(environmentId: EnvironmentId): Promise<string[]>;
  /** Returns the names of a provider's tools whose description, without surrounding white space, is this text. */
  namesWithDescription(environmentId: EnvironmentId, connector: string, description: string): Promise<string[]>;
  /** Returns a number that increases with every change of the environment's tools; 0 before the first change. */
  revision(environmentId: EnvironmentId): Promise<number>;
  /**
   * Returns tools that were written after a position, sorted by revision and name. `{ revision, name: '' }` is the
   * position before all tools of that revision. Deletions are only visible in {@link names}.
   */
  changedAfter(
    environmentId: EnvironmentId,
    place: Pick<EnvironmentToolRow, 'revision' | 'name'>,
    limit: number,
  ): Promise<EnvironmentToolRow[]>;
}

export interface EnvironmentToolWrites {
  /** Increases the revision, because something changed that determines how the tools are shown. */
  touch(environmentId: EnvironmentId): Promise<void>;
  /**
   * Inserts or replaces tools by name. Tools that are already identical are not written.
   *
   * @returns how many were written
   * @throws UniqueError `environment_tools_source` if another tool of the provider has the same source id
   */
  upsert(environmentId: EnvironmentId, tools: readonly NewEnvironmentTool[]): Promise<number>;
  /** @returns how many existed */
  delete(environmentId: EnvironmentId, names: readonly string[]): Promise<number>;
  /** Deletes up to `limit` tools of a provider. @returns how many */
  deleteOfConnector(environmentId: EnvironmentId, connector: string, limit: number): Promise<number>;
}

export type EnvironmentToolRepository = EnvironmentToolReads & EnvironmentToolWrites;

/** The limit may be `Dialect.unlimited`. */
type Selection = Omit<ToolListRequest, 'limit'> & { limit: number | null };

/** Returns the hash of a definition. Equal definitions with members in the same order have equal hashes. */
export function contentHash(definition: object): string {
  return hashText(JSON.stringify(definition));
}

const t = environmentTools;
const given = (name: string) => sql.placeholder(name);
const withinEnvironment = eq(t.environmentId, given('environmentId'));
const columns = {
  name: t.name,
  connector: t.connector,
  source: t.source,
  sourceId: t.sourceId,
  definition: t.definition,
  contentHash: t.contentHash,
  flagged: t.flagged,
  revision: t.revision,
  version: t.version,
  createdAt: t.createdAt,
  updatedAt: t.updatedAt,
};

export function createEnvironmentToolRepository(statements: Statements): EnvironmentToolRepository {
  const { db, once, dialect } = statements;
  const revisions = createToolRevisions(statements);
  const get = once(() =>
    db
      .select(columns)
      .from(t)
      .where(and(withinEnvironment, eq(t.name, given('name'))))
      .prepare(),
  );
  const list = once(() =>
    db
      .select(columns)
      .from(t)
      .where(and(withinEnvironment, gt(t.name, given('after'))))
      .orderBy(asc(t.name))
      .limit(given('limit'))
      .prepare(),
  );
  const listOfConnector = once(() =>
    db
      .select(columns)
      .from(t)
      .where(and(withinEnvironment, eq(t.connector, given('connector')), gt(t.name, given('after'))))
      .orderBy(asc(t.name))
      .limit(given('limit'))
      .prepare(),
  );
  const entries = once(() =>
    db
      .select({
        name: t.name,
        source: t.source,
        sourceId: t.sourceId,
        contentHash: t.contentHash,
        flagged: t.flagged,
      })
      .from(t)
      .where(and(withinEnvironment, eq(t.connector, given('connector'))))
      .orderBy(asc(t.name))
      .prepare(),
  );
  const counted = once(() => db.select({ total: count() }).from(t).where(withinEnvironment).prepare());
  const names = once(() => db.select({ name: t.name }).from(t).where(withinEnvironment).orderBy(asc(t.name)).prepare());
  // `namesOf` reads only an index, and `flaggedOf` also reads rows of tools of MCP servers. Reading other rows would be
  // slow, because a row is as large as the definition of its tool.
  const namesOf = once(() =>
    db
      .select({ name: t.name })
      .from(t)
      .where(and(withinEnvironment, eq(t.connector, given('connector'))))
      .orderBy(asc(t.name))
      .prepare(),
  );
  const flaggedOf = once(() =>
    db
      .select({ name: t.name, flagged: t.flagged })
      .from(t)
      .where(
        and(
          withinEnvironment,
          eq(t.connector, given('connector')),
          sql`${t.source} = 'mcp' and ${t.sourceId} is not null and ${t.flagged} is not null`,
        ),
      )
      .prepare(),
  );
  // The expression must equal that of the index: without the index, reading the definitions of a large provider takes a
  // second.
  const described = once(() =>
    db
      .select({ name: t.name })
      .from(t)
      .where(
        and(
          withinEnvironment,
          eq(t.connector, given('connector')),
          dialect.hasTrimmedMember(t.definition, 'description', given('description')),
        ),
      )
      .prepare(),
  );
  const changedAfter = once(() =>
    db
      .select(columns)
      .from(t)
      .where(and(withinEnvironment, sql`(${t.revision}, ${t.name}) > (${given('revision')}, ${given('name')})`))
      .orderBy(asc(t.revision), asc(t.name))
      .limit(given('limit'))
      .prepare(),
  );
  const upsert = once(() => prepareUpsert(statements));
  const remove = once(() =>
    db
      .delete(t)
      .where(and(withinEnvironment, eq(t.name, given('name'))))
      .prepare(),
  );

  const removeOfConnector = once(() => {
    const some = db
      .select({ name: t.name })
      .from(t)
      .where(and(withinEnvironment, eq(t.connector, given('connector'))))
      .limit(given('limit'));
    return db
      .delete(t)
      .where(and(withinEnvironment, sql`${t.name} in ${some}`))
      .prepare();
  });

  function select(environmentId: EnvironmentId, { connector, after = '', limit }: Selection) {
    if (connector === undefined) return list().all({ environmentId, after, limit });
    return listOfConnector().all({ environmentId, connector, after, limit });
  }

  return {
    get: (environmentId, name) => get().get({ environmentId, name }),
    list: select,
    listByConnector: (environmentId, connector) => select(environmentId, { connector, limit: dialect.unlimited }),
    entriesOf: (environmentId, connector) => entries().all({ environmentId, connector }),
    async namesOf(environmentId, connector) {
      return (await namesOf().all({ environmentId, connector })).map(({ name }) => name);
    },
    flaggedOf: (environmentId, connector) => flaggedOf().all({ environmentId, connector }),
    async count(environmentId) {
      return (await counted().get({ environmentId }))?.total ?? 0;
    },
    async names(environmentId) {
      return (await names().all({ environmentId })).map(({ name }) => name);
    },
    async namesWithDescription(environmentId, connector, description) {
      const found = await described().all({ environmentId, connector, description });
      return found.map(({ name }) => name).sort();
    },
    revision: revisions.current,
    changedAfter: (environmentId, { revision: after, name }, limit) =>
      changedAfter().all({ environmentId, revision: after, name, limit }),
    async touch(environmentId) {
      await revisions.change(environmentId, async () => 1);
    },
    async upsert(environmentId, tools) {
      if (tools.length === 0) return 0;
      return revisions.change(environmentId, async (revision) => {
        let written = 0;
        for (const { definition: data, flagged = null, at, ...tool } of tools) {
          const definition = JSON.stringify(data);
          const row = { ...tool, definition, contentHash: hashText(definition), flagged, at };
          written += (await upsert().run({ ...row, environmentId, revision })).changes;
        }
        return written;
      });
    },
    async delete(environmentId, all) {
      return revisions.changeExisting(environmentId, async () => {
        let removed = 0;
        for (const name of all) removed += (await remove().run({ environmentId, name })).changes;
        return removed;
      });
    },
    async deleteOfConnector(environmentId, connector, limit) {
      return revisions.changeExisting(environmentId, async () => {
        return (await removeOfConnector().run({ environmentId, connector, limit })).changes;
      });
    },
  };
}

function prepareUpsert({ db }: Statements) {
  const row = {
    environmentId: given('environmentId'),
    name: given('name'),
    connector: given('connector'),
    source: given('source'),
    sourceId: given('sourceId'),
    definition: given('definition'),
    contentHash: given('contentHash'),
    flagged: given('flagged'),
    revision: given('revision'),
    version: 1,
    createdAt: given('at'),
    updatedAt: given('at'),
  };
  const same = sql`${t.contentHash} = excluded.content_hash and ${t.connector} = excluded.connector
    and ${t.source} = excluded.source and ${t.sourceId} is not distinct from excluded.source_id
    and ${t.flagged} is not distinct from excluded.flagged`;
  return db
    .insert(t)
    .values(row as unknown as typeof t.$inferInsert)
    .onConflictDoUpdate({
      target: conflictOf(t.environmentId, t.name),
      set: {
        connector: sql`excluded.connector`,
        source: sql`excluded.source`,
        sourceId: sql`excluded.source_id`,
        definition: sql`excluded.definition`,
        contentHash: sql`excluded.content_hash`,
        flagged: sql`excluded.flagged`,
        revision: sql`excluded.revision`,
        version: sql`${t.version} + 1`,
        updatedAt: sql`excluded.updated_at`,
      },
      setWhere: sql`not (${same})`,
    })
    .prepare();
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
