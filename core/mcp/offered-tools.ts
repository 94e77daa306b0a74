import type { ConnectionRow, ReadRepositories } from '../../db/store.ts';
import { findProvider } from '../connections/providers.ts';
import type { Catalogue } from '../connectors/catalogue.ts';
import { toolFits } from '../connectors/catalogue.ts';
import type { KnownTool, ToolDirectory } from '../discovery/directory.ts';
import type { Tool } from '../tools/tool.ts';
import type { McpMapping, McpServerDefinition } from './server-definition.ts';

/** A tool, and the connection whose accounts it runs with. */
export interface OfferedTool {
  tool: Tool;
  connection: ConnectionRow;
}

export interface OfferTools {
  catalogue: Catalogue;
  toolDirectory: ToolDirectory;
}

/** The tools that a connection lets its accounts run. */
export async function toolsOfConnection(
  read: ReadRepositories,
  tools: OfferTools,
  connection: ConnectionRow,
): Promise<Tool[]> {
  const provider = await findProvider(read, tools.catalogue, connection.environmentId, connection.providerKey);
  if (!provider) return [];
  const own = await tools.toolDirectory.list(read, connection.environmentId, { connector: provider.identifier });
  const usable = own.filter((known) => isAllowed(known, connection)).map(({ tool }) => tool);
  const generic = tools.catalogue
    .tools()
    .filter((tool) => tool.generic && isAllowed({ tool, flagged: null }, connection));
  return [...usable, ...generic].filter((tool) => toolFits(tool, provider));
}

/**
 * Everything that an MCP server offers, in order of name: the same for every user and at every time, unless a setting changes. A
 * connection that is disabled offers nothing. Where two mappings offer a name, the first has it.
 */
export async function offeredTools(
  read: ReadRepositories,
  tools: OfferTools,
  server: McpServerDefinition,
): Promise<OfferedTool[]> {
  const offered = new Map<string, OfferedTool>();
  for (const mapping of server.mappings) {
    for (const tool of await toolsOfMapping(read, tools, mapping)) {
      if (!offered.has(tool.name)) offered.set(tool.name, { tool, connection: mapping.connection });
    }
  }
  return [...offered.values()].sort((a, b) => (a.tool.name < b.tool.name ? -1 : 1));
}

/** The tool of a name, with the connection that it runs with; undefined when the server does not offer it. */
export async function findOffered(
  read: ReadRepositories,
  { catalogue, toolDirectory }: OfferTools,
  server: McpServerDefinition,
  name: string,
): Promise<OfferedTool | undefined> {
  for (const { connection, tools: names } of server.mappings) {
    if (!connection.enabled || (names && !names.includes(name))) continue;
    const known = await toolDirectory.find(read, connection.environmentId, name);
    if (!known || !isAllowed(known, connection)) continue;
    const provider = await findProvider(read, catalogue, connection.environmentId, connection.providerKey);
    if (provider && toolFits(known.tool, provider)) return { tool: known.tool, connection };
  }
  return undefined;
}

/** The names that several connections would offer on one server, each with the place of its second mapping. */
export async function clashesOf(
  read: ReadRepositories,
  tools: OfferTools,
  mappings: readonly McpMapping[],
): Promise<{ mapping: number; names: string[] }[]> {
  const taken = new Set<string>();
  const clashes: { mapping: number; names: string[] }[] = [];
  for (const [index, mapping] of mappings.entries()) {
    const names = (await toolsOfMapping(read, tools, mapping)).map(({ name }) => name);
    const twice = names.filter((name) => taken.has(name));
    if (twice.length > 0) clashes.push({ mapping: index, names: twice });
    for (const name of names) taken.add(name);
  }
  return clashes;
}

async function toolsOfMapping(
  read: ReadRepositories,
  tools: OfferTools,
  { connection, tools: names }: McpMapping,
): Promise<Tool[]> {
  if (!connection.enabled) return [];
  const all = await toolsOfConnection(read, tools, connection);
  return names === null ? all : all.filter((tool) => names.includes(tool.name));
}

function isAllowed({ tool, flagged }: Pick<KnownTool, 'tool' | 'flagged'>, { allowedTools }: ConnectionRow): boolean {
  return flagged === null && (allowedTools === null || allowedTools.includes(tool.name));
}
