import type { ConnectionRow, ReadRepositories } from '../../db/store.ts';
import { LIST } from '../budgets.ts';
import { findProvider } from '../connections/providers.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { toolFits } from '../connectors/catalogue.ts';
import type { ToolDirectory } from '../discovery/directory.ts';
import { toolsOfProvider } from '../discovery/provider-tools.ts';
import { readWithin } from '../discovery/read-within.ts';
import { isAllowed } from '../discovery/user-tools.ts';
import { ownNameOf, type Tool } from '../tools/tool.ts';
import type { McpMapping, McpServerDefinition } from './server-definition.ts';

/** A tool, and the connection whose accounts run it. */
export interface OfferedTool {
  tool: Tool;
  connection: ConnectionRow;
}

export interface OfferDeps {
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
}

/**
 * Maps the original name of each tool that a connection allows to its current name, which an overlay (changes that an
 * environment makes to a tool) may have replaced. Tools that an overlay hides and flagged tools (whose definition an
 * operator must review) are left out.
 */
export interface ConnectionNames {
  of(connection: ConnectionRow): Promise<ReadonlyMap<string, string>>;
}

/**
 * Creates a reader of tool names, for one request only. It reads the tools of each provider once, because a provider
 * may have thousands of tools, and a server may offer 25 connections of the same provider.
 */
export function connectionNames(read: ReadRepositories, deps: OfferDeps): ConnectionNames {
  const known = new Map<string, Promise<ReadonlyMap<string, string>>>();

  async function ofProvider({ environmentId, providerKey }: ConnectionRow): Promise<ReadonlyMap<string, string>> {
    const provider = await findProvider(read, deps.catalogue, environmentId, providerKey);
    const all = provider ? await toolsOfProvider(read, deps, environmentId, provider) : [];
    const offered = all.filter(({ flagged, hidden }) => flagged === null && !hidden);
    return new Map(offered.map(({ ownName, name }) => [ownName, name]));
  }

  return {
    async of(connection) {
      const { providerKey, allowedTools } = connection;
      const reading = known.get(providerKey) ?? ofProvider(connection);
      known.set(providerKey, reading);
      const names = await reading;
      if (allowedTools === null) return names;
      const allowed = new Set(allowedTools);
      return new Map([...names].filter(([ownName]) => allowed.has(ownName)));
    },
  };
}

/** The name of an offered tool, and the connection whose accounts run it. */
export interface OfferedName {
  name: string;
  connection: ConnectionRow;
}

/**
 * Returns the names of all tools that an MCP server offers, sorted. They are the same for every user and change only
 * when a setting or a tool changes. A disabled connection offers no tools. If two mappings offer the same name, the
 * tool runs with the connection of the first mapping.
 *
 * @param choose selects the tools of a mapping to return, by default all
 */
export async function offeredNames(
  read: ReadRepositories,
  deps: OfferDeps,
  server: McpServerDefinition,
  choose: (mapping: McpMapping, names: string[]) => Promise<string[]> = async (_mapping, all) => all,
): Promise<OfferedName[]> {
  const offered = new Map<string, OfferedName>();
  const names = connectionNames(read, deps);
  for (const mapping of server.mappings) {
    for (const name of await choose(mapping, await namesOfMapping(names, mapping))) {
      if (!offered.has(name)) offered.set(name, { name, connection: mapping.connection });
    }
  }
  return [...offered.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Reads the tools with these names in order and converts each with `present`, until their total size reaches the
 * maximum of a response. Names of deleted tools are skipped.
 *
 * @returns the converted tools, and `taken`, the number of names that were read or skipped
 */
export function presentOffered<T>(
  read: ReadRepositories,
  { toolDirectory }: Pick<OfferDeps, 'toolDirectory'>,
  offered: readonly OfferedName[],
  present: (tool: Tool) => T,
): Promise<{ items: T[]; taken: number }> {
  const readOne = async ({ name, connection }: OfferedName) => {
    const known = await toolDirectory.find(read, connection.environmentId, name);
    return known && { item: present(known.tool), tool: known.tool };
  };
  return readWithin(offered, readOne, LIST.toolsBytes);
}

/** Returns the tool of a name, with the connection whose accounts run it; undefined if the server does not offer it. */
export async function findOffered(
  read: ReadRepositories,
  { catalogue, toolDirectory }: OfferDeps,
  server: McpServerDefinition,
  name: string,
): Promise<OfferedTool | undefined> {
  for (const { connection, tools: names } of server.mappings) {
    if (!connection.enabled) continue;
    const known = await toolDirectory.find(read, connection.environmentId, name);
    if (!known || !isAllowed(known, connection) || (names && !names.includes(ownNameOf(known.tool)))) continue;
    const provider = await findProvider(read, catalogue, connection.environmentId, connection.providerKey);
    if (provider && toolFits(known.tool, provider)) return { tool: known.tool, connection };
  }
  return undefined;
}

/**
 * Finds tool names that several mappings of one MCP server offer.
 *
 * @returns for each mapping that repeats names of earlier mappings: its index, and the repeated names
 */
export async function clashesOf(
  names: ConnectionNames,
  mappings: readonly McpMapping[],
): Promise<{ mapping: number; names: string[] }[]> {
  const taken = new Set<string>();
  const clashes: { mapping: number; names: string[] }[] = [];
  for (const [index, mapping] of mappings.entries()) {
    const offered = await namesOfMapping(names, mapping);
    const twice = offered.filter((name) => taken.has(name));
    if (twice.length > 0) clashes.push({ mapping: index, names: twice });
    for (const name of offered) taken.add(name);
  }
  return clashes;
}

async function namesOfMapping(names: ConnectionNames, { connection, tools: chosen }: McpMapping): Promise<string[]> {
  if (!connection.enabled) return [];
  const allowed = await names.of(connection);
  return chosen === null ? [...allowed.values()] : chosen.flatMap((ownName) => allowed.get(ownName) ?? []);
}
