import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { createTurns } from '../scheduling/turns.ts';
import type { Tool } from '../tools/tool.ts';
import { createToolIndex, type ToolIndex } from './tool-index.ts';

/** The search indexes of an environment's tools: one for the catalogue, and one for its own tools. */
export interface ToolIndexes {
  /**
   * Returns up-to-date indexes. Do not call it in a transaction, because reading many tools takes several turns of the
   * event loop.
   */
  of(read: ReadRepositories, environmentId: EnvironmentId): Promise<readonly ToolIndex[]>;
}

interface OwnIndex {
  index: ToolIndex;
  revision: number;
  /** The update that is running; only one runs at a time. */
  syncing: Promise<void> | undefined;
}

/** How many tools are read and indexed before other requests can run; they take a few milliseconds. */
const PIECE = 25;

/**
 * Builds each index at its first use. The indexes of environments' own tools are kept in an LRU cache and updated after
 * writes.
 *
 * @param capacity how many environments' indexes are kept
 */
export function createToolIndexes(catalogue: Catalogue, capacity = 16): ToolIndexes {
  let builtIn: Promise<ToolIndex> | undefined;
  const own = new LRUCache<EnvironmentId, OwnIndex>({ max: capacity });

  return {
    async of(read, environmentId) {
      builtIn ??= indexOf(catalogue);
      const index = await builtIn;
      const revision = await read.environmentTools.revision(environmentId);
      if (revision === 0) return [index];
      const kept = own.get(environmentId) ?? { index: createToolIndex(), revision: 0, syncing: undefined };
      own.set(environmentId, kept);
      while (kept.revision < revision) {
        kept.syncing ??= sync(read, catalogue, environmentId, kept).finally(() => {
          kept.syncing = undefined;
        });
        await kept.syncing;
      }
      return [index, kept.index];
    },
  };
}

/**
 * Builds the catalogue's index in steps, because all its tools take a tenth of a second. The tools themselves are not
 * cached.
 */
async function indexOf(catalogue: Catalogue): Promise<ToolIndex> {
  const index = createToolIndex();
  for (const [place, name] of catalogue.toolNames().entries()) {
    if (place % PIECE === PIECE - 1) await nextTurn();
    const tool = catalogue.peek(name);
    if (tool) index.put(tool, catalogue.connector(tool.connector)?.display_name ?? tool.connector);
  }
  return index;
}

async function sync(
  read: ReadRepositories,
  catalogue: Catalogue,
  environmentId: EnvironmentId,
  kept: OwnIndex,
): Promise<void> {
  const revision = await read.environmentTools.revision(environmentId);
  const names = await displayNames(read, catalogue, environmentId);
  const turn = createTurns();
  for (let place = { revision: kept.revision + 1, name: '' }; ; ) {
    const rows = await read.environmentTools.changedAfter(environmentId, place, PIECE);
    for (const row of rows) {
      const { generic: _generic, ...tool } = JSON.parse(row.definition) as Tool;
      // Flagged tools are not indexed. If the catalogue has a tool of the same name, the catalogue's tool is used.
      if (row.flagged !== null || catalogue.hasTool(row.name)) kept.index.drop(row.name);
      else kept.index.put(tool, names(row.connector));
      await turn(row.definition.length);
    }
    const last = rows.at(-1);
    if (!last || rows.length < PIECE) break;
    place = last;
    await nextTurn();
  }
  const present = new Set(await read.environmentTools.names(environmentId));
  for (const { name } of kept.index.cards()) if (!present.has(name)) kept.index.drop(name);
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
