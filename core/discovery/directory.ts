import type { EnvironmentId, EnvironmentToolRow, ReadRepositories, ToolSource } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import type { Tool } from '../tools/tool.ts';
import { createToolIndexes } from './indexes.ts';
import { createOwnTools } from './own-tools.ts';
import { type Hit, rankTools } from './rank-tools.ts';
import type { ToolCard } from './tool-index.ts';

/** A tool of an environment, with its origin. */
export interface KnownTool {
  tool: Tool;
  source: 'catalogue' | ToolSource;
  /** Why the tool may not be run until an operator has reviewed it; null if it may be run. */
  flagged: string | null;
  /** Only for tools that the environment added. */
  contentHash?: string;
}

export interface NamedTool {
  name: string;
  /** As in `KnownTool`. */
  flagged: string | null;
}

export interface DirectoryFilter {
  /** Tools of this provider only. */
  connector?: string | undefined;
  /** Only tools that have all of these tags. */
  tags?: readonly string[] | undefined;
  /** Only tools whose hints have these values. */
  hints?: Partial<Record<keyof ToolCard['hints'], boolean | undefined>> | undefined;
}

/**
 * The tools of an environment: those of the catalogue and its own. A catalogue tool always takes precedence over a stored tool
 * with the same name.
 */
export interface ToolDirectory {
  find(read: ReadRepositories, environmentId: EnvironmentId, name: string): Promise<KnownTool | undefined>;
  /** Returns the names of one provider's tools, sorted, including flagged ones. */
  names(read: ReadRepositories, environmentId: EnvironmentId, connector: string): Promise<NamedTool[]>;
  /** Returns the tools of one provider that may be run, sorted by name. Do not call it in a transaction. */
  cardsOf(read: ReadRepositories, environmentId: EnvironmentId, connector: string): Promise<readonly ToolCard[]>;
  /** Returns the tools that may be run, sorted by name. Do not call it in a transaction. */
  browse(read: ReadRepositories, environmentId: EnvironmentId, filter?: DirectoryFilter): Promise<ToolCard[]>;
  /**
   * Returns the tools that may be run and match a query in natural language, best first. Do not call it in a
   * transaction.
   */
  search(read: ReadRepositories, environmentId: EnvironmentId, query: string, filter?: DirectoryFilter): Promise<Hit[]>;
}

export function createToolDirectory(catalogue: Catalogue): ToolDirectory {
  const ownTools = createOwnTools();
  const indexes = createToolIndexes(catalogue);

  const builtIn = (tool: Tool): KnownTool => ({ tool, source: 'catalogue', flagged: null });
  const own = (row: EnvironmentToolRow): KnownTool => ({
    tool: ownTools.parse(row),
    source: row.source,
    flagged: row.flagged,
    contentHash: row.contentHash,
  });

  return {
    async find(read, environmentId, name) {
      const tool = catalogue.tool(name);
      if (tool) return builtIn(tool);
      const row = await read.environmentTools.get(environmentId, name);
      return row && own(row);
    },
    async names(read, environmentId, connector) {
      const builtIn = catalogue.toolNames(connector).map((name) => ({ name, flagged: null }));
      const names = await read.environmentTools.namesOf(environmentId, connector);
      const rows = names.length === 0 ? [] : await read.environmentTools.flaggedOf(environmentId, connector);
      const reasons = new Map(rows.map(({ name, flagged }) => [name, flagged]));
      const own = names
        .filter((name) => !catalogue.hasTool(name))
        .map((name) => ({ name, flagged: reasons.get(name) ?? null }));
      return own.length === 0 ? builtIn : [...builtIn, ...own].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async cardsOf(read, environmentId, connector) {
      const found = (await indexes.of(read, environmentId)).map((index) => index.cardsOf(connector));
      return inOrder(found);
    },
    async browse(read, environmentId, filter = {}) {
      const all = await indexes.of(read, environmentId);
      return inOrder(all.map((index) => index.cards().filter(passes(filter))));
    },
    async search(read, environmentId, query, filter = {}) {
      return rankTools(await indexes.of(read, environmentId), query, passes(filter));
    },
  };
}

/** Merges sorted lists. Sorting the concatenation is cheap, because it is nearly sorted. */
function inOrder(lists: readonly (readonly ToolCard[])[]): ToolCard[] {
  const [only = [], ...others] = lists.filter((list) => list.length > 0);
  return others.length === 0 ? [...only] : [...only, ...others.flat()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function passes({ connector, tags = [], hints = {} }: DirectoryFilter): (card: ToolCard) => boolean {
  const wanted = (Object.entries(hints) as [keyof ToolCard['hints'], boolean | undefined][]).filter(
    ([, value]) => value !== undefined,
  );
  return (card) =>
    (connector === undefined || card.connector === connector) &&
    tags.every((tag) => card.tags.includes(tag)) &&
    wanted.every(([hint, value]) => card.hints[hint] === value);
}
