import type { EnvironmentId, ReadRepositories, ToolOverlayRow } from '../../db/store.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { createToolIndexes } from './indexes.ts';
import { createOverlaidTools, type KnownTool, type OverlayFit } from './overlaid-tools.ts';
import { createOwnTools } from './own-tools.ts';
import { type Hit, rankTools } from './rank-tools.ts';
import type { ToolCard } from './tool-index.ts';

export type { KnownTool };

export interface NamedTool {
  name: string;
  /**
   * The tool's name without its overlay (an environment's changes to a tool), which may have renamed it. Settings refer
   * to tools by their own names.
   */
  ownName: string;
  /** Whether an overlay hides the tool. */
  hidden: boolean;
  /** Why the tool may not be run until an operator has reviewed it; null if it may be run. */
  flagged: string | null;
}

export interface DirectoryFilter {
  /** Tools of this provider only. */
  connector?: string | undefined;
  /** Only tools with these names. */
  names?: ReadonlySet<string> | undefined;
  /** Only tools that have all of these tags. */
  tags?: readonly string[] | undefined;
  /** Only tools whose hints have these values. */
  hints?: Partial<Record<keyof ToolCard['hints'], boolean | undefined>> | undefined;
}

/**
 * The tools of an environment: the tools of the catalogue and those that the environment stores, with the environment's
 * overlays (changes to tools) applied. A catalogue tool always takes precedence over a stored tool with the same name,
 * and both over a tool that an overlay gives that name.
 */
export interface ToolDirectory {
  find(read: ReadRepositories, environmentId: EnvironmentId, name: string): Promise<KnownTool | undefined>;
  /** Returns a tool without its overlay, by its own name. */
  bare(read: ReadRepositories, environmentId: EnvironmentId, name: string): Promise<KnownTool | undefined>;
  /** Returns whether an overlay fits its tool. */
  fitOf(read: ReadRepositories, overlay: ToolOverlayRow): Promise<OverlayFit>;
  /** Returns the names of one provider's tools, sorted, including flagged and hidden ones. */
  names(read: ReadRepositories, environmentId: EnvironmentId, connector: string): Promise<NamedTool[]>;
  /**
   * Returns the tools of one provider that may be run, sorted by name. Do not call it in a transaction, because reading
   * many tools takes several turns of the event loop.
   */
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
  const overlaidTools = createOverlaidTools(catalogue, createOwnTools());
  const indexes = createToolIndexes(catalogue, overlaidTools);

  /** Returns the tools of one provider by their own names, without overlays. */
  async function bareNames(
    read: ReadRepositories,
    environmentId: EnvironmentId,
    connector: string,
  ): Promise<NamedTool[]> {
    const named = (name: string, flagged: string | null = null) => ({ name, ownName: name, hidden: false, flagged });
    const builtIn = catalogue.toolNames(connector).map((name) => named(name));
    const names = await read.environmentTools.namesOf(environmentId, connector);
    const rows = names.length === 0 ? [] : await read.environmentTools.flaggedOf(environmentId, connector);
    const reasons = new Map(rows.map(({ name, flagged }) => [name, flagged]));
    return [
      ...builtIn,
      ...names.filter((name) => !catalogue.hasTool(name)).map((name) => named(name, reasons.get(name))),
    ];
  }

  return {
    find: overlaidTools.find,
    bare: overlaidTools.bare,
    fitOf: overlaidTools.fitOf,
    async names(read, environmentId, connector) {
      const bare = await bareNames(read, environmentId, connector);
      const overlays = new Map((await read.toolOverlays.list(environmentId)).map((row) => [row.toolName, row]));
      const shown: NamedTool[] = [];
      for (const named of bare) {
        const overlay = overlays.get(named.name);
        const known = overlay && (await overlaidTools.overlaid(read, overlay));
        const { hidden } = overlay?.settings ?? named;
        shown.push(known ? { ...named, name: known.tool.name, hidden, flagged: known.flagged } : named);
      }
      return shown.sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async cardsOf(read, environmentId, connector) {
      const { all, isShown } = await indexes.of(read, environmentId);
      return inOrder(all.map((index) => index.cardsOf(connector).filter(isShown)));
    },
    async browse(read, environmentId, filter = {}) {
      const { all, isShown } = await indexes.of(read, environmentId);
      const passing = passes(filter);
      return inOrder(all.map((index) => index.cards().filter((card) => isShown(card) && passing(card))));
    },
    async search(read, environmentId, query, filter = {}) {
      const { all, isShown } = await indexes.of(read, environmentId);
      const passing = passes(filter);
      return rankTools(all, query, (card) => isShown(card) && passing(card));
    },
  };
}

/** Merges sorted lists. Sorting the concatenation is cheap, because it is nearly sorted. */
function inOrder(lists: readonly (readonly ToolCard[])[]): ToolCard[] {
  const [only = [], ...others] = lists.filter((list) => list.length > 0);
  return others.length === 0 ? [...only] : [...only, ...others.flat()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function passes({ connector, names, tags = [], hints = {} }: DirectoryFilter): (card: ToolCard) => boolean {
  const wanted = (Object.entries(hints) as [keyof ToolCard['hints'], boolean | undefined][]).filter(
    ([, value]) => value !== undefined,
  );
  return (card) =>
    (connector === undefined || card.connector === connector) &&
    (names === undefined || names.has(card.name)) &&
    tags.every((tag) => card.tags.includes(tag)) &&
    wanted.every(([hint, value]) => card.hints[hint] === value);
}
