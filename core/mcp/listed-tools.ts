import type { ReadRepositories } from '../../db/store.ts';
import { chooseTools } from '../discovery/choose-tools.ts';
import { toolUses } from '../discovery/tool-uses.ts';
import { FINDER_TOOLS } from './finder-definitions.ts';
import type { OfferDeps, OfferedName } from './offered-tools.ts';
import { offeredNames } from './offered-tools.ts';
import type { McpMapping, McpServerDefinition } from './server-definition.ts';

export interface ListedTools {
  /** Sorted by name. */
  listed: OfferedName[];
  /** Whether the server offers more tools than it lists. */
  offersMore: boolean;
}

/**
 * Returns the tools that `tools/list` of a server returns: all tools of a mapping that names its tools, and at most
 * `maxListed` tools of any other mapping. Unlisted tools can be found by search and called. Do not call it in a
 * transaction, because reading many tools takes several turns of the event loop.
 */
export async function listedTools(
  read: ReadRepositories,
  deps: OfferDeps,
  server: McpServerDefinition,
): Promise<ListedTools> {
  let offersMore = false;
  const cards = cardsByName(read, deps, server);
  const listed = await offeredNames(read, deps, server, async (mapping, names) => {
    if (!hasMore(mapping, names)) return names;
    offersMore = true;
    const known = await cards();
    const offered = names.flatMap((name) => known.get(name) ?? []);
    return chooseTools(offered, await toolUses(read, mapping.connection), mapping.maxListed).map(({ name }) => name);
  });
  if (!offersMore) return { listed, offersMore };
  const isFinder = new Set(FINDER_TOOLS.map(({ name }) => name));
  // A tool of a connection that has the name of one of the two finder tools is not listed. It can still be called
  // through `valetkey_call_tool`.
  return { listed: listed.filter(({ name }) => !isFinder.has(name)), offersMore };
}

/** Whether a server offers more tools than it lists. This costs less than `listedTools`, which chooses the tools. */
export async function offersMoreThanListed(
  read: ReadRepositories,
  deps: OfferDeps,
  server: McpServerDefinition,
): Promise<boolean> {
  let offersMore = false;
  await offeredNames(read, deps, server, async (mapping, names) => {
    offersMore ||= hasMore(mapping, names);
    return [];
  });
  return offersMore;
}

function hasMore(mapping: McpMapping, names: string[]): mapping is McpMapping & { maxListed: number } {
  return mapping.maxListed !== null && names.length > mapping.maxListed;
}

/**
 * Returns a function that reads the cards of an environment's tools (the data for lists and searches). They are read
 * once for all mappings, because an environment may have thousands of tools.
 */
function cardsByName(read: ReadRepositories, { toolDirectory }: OfferDeps, { mappings }: McpServerDefinition) {
  const environmentId = mappings[0]?.connection.environmentId;
  const browse = async () => {
    const cards = environmentId === undefined ? [] : await toolDirectory.browse(read, environmentId);
    return new Map(cards.map((card) => [card.name, card]));
  };
  let reading: ReturnType<typeof browse> | undefined;
  return () => {
    reading ??= browse();
    return reading;
  };
}
