import { createHash } from 'node:crypto';
import { conflictOf } from './columns.ts';
import { and, asc, eq, gt, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type {
  EnvironmentToolEntry,
  EnvironmentToolRow,
  NewEnvironmentTool,
  ToolListRequest,
} from './rows/environment-tools.ts';
import { environmentToolRevisions, environmentTools } from './schema.ts';
import type { Statements } from './statements.ts';

export interface EnvironmentToolReads {
  get(environmentId: EnvironmentId, name: string): Promise<EnvironmentToolRow | undefined>;
  /** In the order of names. */
  list(environmentId: EnvironmentId, request: ToolListRequest): Promise<EnvironmentToolRow[]>;
  /** All tools of a provider, in the order of names. */
  listByConnector(environmentId: EnvironmentId, connector: string): Promise<EnvironmentToolRow[]>;
  /** All tools of a provider without their definitions, in the order of names. */
  entriesOf(environmentId: EnvironmentId, connector: string): Promise<EnvironmentToolEntry[]>;
  /** The names of all tools, in order. */
  names(environmentId: EnvironmentId): Promise<string[]>;
  /** The names of the tools of a provider whose description is this one, apart from space around it. */
  namesWithDescription(environmentId: EnvironmentId, connector: string, description: string): Promise<string[]>;
  /** A number that grows with every change of the environment's tools; 0 before the first. */
  revision(environmentId: EnvironmentId): Promise<number>;
  /**
   * What was written after a place, in the order of revisions and names; `{ revision, name: '' }` is the place before everything of
   * that revision. Deletions show in {@link names} alone.
   */
  changedAfter(
    environmentId: EnvironmentId,
    place: Pick<EnvironmentToolRow, 'revision' | 'name'>,
    limit: number,
  ): Promise<EnvironmentToolRow[]>;
}

export interface EnvironmentToolWrites {
  /**
   * Writes tools by name, as new ones or in place of those that have the names. A tool that is already as it is to be stays
   * untouched.
   *
   * @returns how many were written
   * @throws UniqueError `environment_tools_source` when another tool of the provider has the source's name
   */
  upsert(environmentId: EnvironmentId, tools: readonly NewEnvironmentTool[]): Promise<number>;
  /** @returns how many were there */
  delete(environmentId: EnvironmentId, names: readonly string[]): Promise<number>;
  /** Deletes up to `limit` tools of a provider. @returns how many */
  deleteOfConnector(environmentId: EnvironmentId, connector: string, limit: number): Promise<number>;
}

export type EnvironmentToolRepository = EnvironmentToolReads & EnvironmentToolWrites;

/** The limit may be that of `Dialect.unlimited`. */
type Selection = Omit<ToolListRequest, 'limit'> & { limit: number | null };

/** The hash under which a definition is stored. Equal definitions, in the same order of members, have equal hashes. */
export function contentHash(definition: object): string {
  return hashText(JSON.stringify(definition));
}

const t = environmentTools;
const revisions = environmentToolRevisions;
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
  const names = once(() => db.select({ name: t.name }).from(t).where(withinEnvironment).orderBy(asc(t.name)).prepare());
  // As the index has it: the definitions of a large provider take a second to read.
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
  const revision = once(() =>
    db
      .select({ revision: revisions.revision })
      .from(revisions)
      .where(eq(revisions.environmentId, given('environmentId')))
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
  // Both write the row although it stays the same, because only a write locks it in every engine.
  const lock = once(() =>
    db
      .update(revisions)
      .set({ revision: sql`${revisions.revision}` })
      .where(eq(revisions.environmentId, given('environmentId')))
      .returning({ revision: revisions.revision })
      .prepare(),
  );
  const addOrLock = once(() =>
    db
      .insert(revisions)
      .values({ environmentId: given('environmentId') as never, revision: 0 })
      .onConflictDoUpdate({
        target: conflictOf(revisions.environmentId),
        set: { revision: sql`${revisions.revision}` },
      })
      .returning({ revision: revisions.revision })
      .prepare(),
  );
  const setRevision = once(() =>
    db
      .update(revisions)
      .set({ revision: sql`${given('revision')}` })
      .where(eq(revisions.environmentId, given('environmentId')))
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

  /**
   * Changes tools under the next revision. The row of the revision is locked first: otherwise two transactions could use the same
   * revision, and a reader that has seen the one that commits first would never see the rows of the other.
   */
  async function change(
    environmentId: EnvironmentId,
    locked: { revision: number },
    write: (revision: number) => Promise<number>,
  ): Promise<number> {
    const next = locked.revision + 1;
    const written = await write(next);
    if (written > 0) await setRevision().run({ environmentId, revision: next });
    return written;
  }

  async function current(environmentId: EnvironmentId): Promise<number> {
    return (await revision().get({ environmentId }))?.revision ?? 0;
  }

  function select(environmentId: EnvironmentId, { connector, after = '', limit }: Selection) {
    if (connector === undefined) return list().all({ environmentId, after, limit });
    return listOfConnector().all({ environmentId, connector, after, limit });
  }

  return {
    get: (environmentId, name) => get().get({ environmentId, name }),
    list: select,
    listByConnector: (environmentId, connector) => select(environmentId, { connector, limit: dialect.unlimited }),
    entriesOf: (environmentId, connector) => entries().all({ environmentId, connector }),
    async names(environmentId) {
      return (await names().all({ environmentId })).map(({ name }) => name);
    },
    async namesWithDescription(environmentId, connector, description) {
      const found = await described().all({ environmentId, connector, description });
      return found.map(({ name }) => name).sort();
    },
    revision: current,
    changedAfter: (environmentId, { revision: after, name }, limit) =>
      changedAfter().all({ environmentId, revision: after, name, limit }),
    async upsert(environmentId, tools) {
      if (tools.length === 0) return 0;
      const locked = (await addOrLock().get({ environmentId })) as { revision: number };
      return change(environmentId, locked, async (revision) => {
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
      const locked = await lock().get({ environmentId });
      // An environment without a revision never had a tool.
      if (!locked) return 0;
      return change(environmentId, locked, async () => {
        let removed = 0;
        for (const name of all) removed += (await remove().run({ environmentId, name })).changes;
        return removed;
      });
    },
    async deleteOfConnector(environmentId, connector, limit) {
      const locked = await lock().get({ environmentId });
      if (!locked) return 0;
      return change(environmentId, locked, async () => {
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
