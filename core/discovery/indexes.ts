import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { createTurns } from '../scheduling/turns.ts';
import type { Tool } from '../tools/tool.ts';
import type { OverlaidDeps } from './overlaid-tools.ts';
import { sizeOfTool } from './read-within.ts';
import { createToolIndex, type ToolCard, type ToolIndex } from './tool-index.ts';

/**
 * The indexed tools of an environment: those of the catalogue, its own tools, and tools with overlays (an environment's
 * changes to a tool).
 */
export interface EnvironmentIndexes {
  all: readonly ToolIndex[];
  /** Whether an entry may be shown. It is false for the original entry of a tool that has an overlay. */
  isShown(card: ToolCard): boolean;
}

/** The search indexes of environments. */
export interface ToolIndexes {
  /**
   * Returns up-to-date indexes. Do not call it in a transaction, because reading many tools takes several turns of the
   * event loop.
   */
  of(read: ReadRepositories, environmentId: EnvironmentId): Promise<EnvironmentIndexes>;
}

interface OwnIndex {
  index: ToolIndex;
  /** The tools with overlays, except hidden and flagged ones. */
  overlaid: ToolIndex;
  /** The names of the tools with overlays, as they are without the overlay. */
  replaced: ReadonlySet<string>;
  revision: number;
  /** The update that is running; only one runs at a time. */
  syncing: Promise<void> | undefined;
}

/** The number of tools that are read and indexed before other requests can run. A batch takes a few milliseconds. */
const BATCH = 25;

/**
 * Builds each index at its first use. The indexes of environments' own tools are kept in an LRU cache. If tools were
 * changed, their index is updated at its next use.
 *
 * @param capacity the maximum number of environments whose indexes are cached
 */
export function createToolIndexes(
  catalogue: Catalogue,
  overlaidTools: Pick<OverlaidDeps, 'overlaid'>,
  capacity = 16,
): ToolIndexes {
  let builtIn: Promise<ToolIndex> | undefined;
  const own = new LRUCache<EnvironmentId, OwnIndex>({ max: capacity });

  return {
    async of(read, environmentId) {
      builtIn ??= indexOf(catalogue);
      const index = await builtIn;
      const revision = await read.environmentTools.revision(environmentId);
      if (revision === 0) return { all: [index], isShown: () => true };
      const kept = own.get(environmentId) ?? newOwnIndex();
      own.set(environmentId, kept);
      while (kept.revision < revision) {
        kept.syncing ??= sync(read, catalogue, overlaidTools, environmentId, kept).finally(() => {
          kept.syncing = undefined;
        });
        await kept.syncing;
      }
      const { index: ownIndex, overlaid, replaced } = kept;
      return {
        all: overlaid.size === 0 ? [index, ownIndex] : [index, ownIndex, overlaid],
        isShown: ({ name, ownName }) => ownName !== undefined || !replaced.has(name),
      };
    },
  };
}

function newOwnIndex(): OwnIndex {
  return {
    index: createToolIndex(),
    overlaid: createToolIndex(),
    replaced: new Set(),
    revision: 0,
    syncing: undefined,
  };
}

/**
 * Builds the catalogue's index in steps, because indexing all its tools takes a tenth of a second. The tools themselves
 * are not cached.
 */
async function indexOf(catalogue: Catalogue): Promise<ToolIndex> {
  const index = createToolIndex();
  for (const [place, name] of catalogue.toolNames().entries()) {
    if (place % BATCH === BATCH - 1) await nextTurn();
    const tool = catalogue.peek(name);
    if (tool) index.put(tool, catalogue.connector(tool.connector)?.display_name ?? tool.connector);
  }
  return index;
}

async function sync(
  read: ReadRepositories,
  catalogue: Catalogue,
  overlaidTools: Pick<OverlaidDeps, 'overlaid'>,
  environmentId: EnvironmentId,
  kept: OwnIndex,
): Promise<void> {
  const revision = await read.environmentTools.revision(environmentId);
  const names = await displayNames(read, catalogue, environmentId);
  const turn = createTurns();
  for (let place = { revision: kept.revision + 1, name: '' }; ; ) {
    const rows = await read.environmentTools.changedAfter(environmentId, place, BATCH);
    for (const row of rows) {
      const { generic: _generic, restriction: _restriction, ...tool } = JSON.parse(row.definition) as Tool;
      // Flagged tools (which wait for a review) are not indexed. If the catalogue has a tool of the same name, the
      // catalogue's tool is used.
      if (row.flagged !== null || catalogue.hasTool(row.name)) kept.index.drop(row.name);
      else kept.index.put(tool, names(row.connector));
      await turn(row.definition.length);
    }
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) break;
    place = last;
    await nextTurn();
  }
  const present = new Set(await read.environmentTools.names(environmentId));
  for (const { name } of kept.index.cards()) if (!present.has(name)) kept.index.drop(name);
  const overlaid = createToolIndex();
  const overlays = await read.toolOverlays.list(environmentId);
  for (const overlay of overlays) {
    const known = await overlaidTools.overlaid(read, overlay);
    if (!known || known.flagged !== null || known.withheld !== undefined) continue;
    overlaid.put(known.tool, names(known.tool.connector));
    await turn(sizeOfTool(known.tool));
  }
  kept.overlaid = overlaid;
  kept.replaced = new Set(overlays.map(({ toolName }) => toolName));
  kept.revision = revision;
}

async function displayNames(
  read: ReadRepositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
): Promise<(connector: string) => string> {
  const custom = new Map<string, string>();
  for (const { identifier, definition } of await read.customProviders.list(environmentId)) {
    custom.set(identifier, String(definition['display_name'] ?? identifier));
  }
  return (connector) => catalogue.connector(connector)?.display_name ?? custom.get(connector) ?? connector;
}
