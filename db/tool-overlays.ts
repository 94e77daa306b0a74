import { conflictOf } from './columns.ts';
import { and, asc, eq, or, sql } from './drizzle.ts';
import type { EnvironmentId } from './environment-id.ts';
import type { NewToolOverlay, ToolOverlayRow } from './rows/tool-overlays.ts';
import { toolOverlays } from './schema.ts';
import type { Statements } from './statements.ts';

export interface ToolOverlayReads {
  /** Returns the overlay of a tool, by the tool's own name. */
  get(environmentId: EnvironmentId, toolName: string): Promise<ToolOverlayRow | undefined>;
  /**
   * Returns the overlay of the tool whose own name this is, and the overlay that gives a tool this name, if they exist.
   */
  named(environmentId: EnvironmentId, name: string): Promise<ToolOverlayRow[]>;
  /** Returns all overlays, of which there are few, sorted by the names of their tools. */
  list(environmentId: EnvironmentId): Promise<ToolOverlayRow[]>;
}

export interface ToolOverlayWrites {
  /** Inserts or replaces an overlay. @throws UniqueError `tool_overlays_new_name` */
  set(environmentId: EnvironmentId, overlay: NewToolOverlay): Promise<void>;
  /** @returns false if there is none */
  delete(environmentId: EnvironmentId, toolName: string): Promise<boolean>;
}

export type ToolOverlayRepository = ToolOverlayReads & ToolOverlayWrites;

const t = toolOverlays;
const withinEnvironment = eq(t.environmentId, sql.placeholder('environmentId'));
const oneTool = and(withinEnvironment, eq(t.toolName, sql.placeholder('toolName')));

export function createToolOverlayRepository({ db, once }: Statements): ToolOverlayRepository {
  const get = once(() => db.select().from(t).where(oneTool).prepare());
  const named = once(() => {
    const name = sql.placeholder('name');
    return db
      .select()
      .from(t)
      .where(and(withinEnvironment, or(eq(t.toolName, name), eq(t.newName, name))))
      .prepare();
  });
  const list = once(() => db.select().from(t).where(withinEnvironment).orderBy(asc(t.toolName)).prepare());
  const remove = once(() => db.delete(t).where(oneTool).prepare());

  return {
    get: (environmentId, toolName) => get().get({ environmentId, toolName }),
    named: (environmentId, name) => named().all({ environmentId, name }),
    list: (environmentId) => list().all({ environmentId }),
    async set(environmentId, overlay) {
      const { toolName: _toolName, createdAt: _createdAt, ...changes } = overlay;
      await db
        .insert(t)
        .values({ ...overlay, environmentId })
        .onConflictDoUpdate({ target: conflictOf(t.environmentId, t.toolName), set: changes })
        .run();
    },
    async delete(environmentId, toolName) {
      return (await remove().run({ environmentId, toolName })).changes === 1;
    },
  };
}
