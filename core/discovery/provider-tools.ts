import type { EnvironmentId, ReadRepositories } from '../../db/store.ts';
import { type Catalogue, toolFits } from '../connectors/catalogue.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import type { NamedTool, ToolDirectory } from './directory.ts';

export interface ProviderToolDeps {
  catalogue: Catalogue;
  toolDirectory: Pick<ToolDirectory, 'names'>;
}

/**
 * Returns the names of the tools that fit the accounts of a provider: the provider's tools, and for a custom provider
 * that is not an MCP server also the generic tools of the catalogue. The list includes tools that are hidden or wait
 * for a review. Tool definitions are not read, because a provider may have thousands.
 */
export async function toolsOfProvider(
  read: ReadRepositories,
  { catalogue, toolDirectory }: ProviderToolDeps,
  environmentId: EnvironmentId,
  provider: ProviderDefinition,
): Promise<NamedTool[]> {
  const own = await toolDirectory.names(read, environmentId, provider.identifier);
  const generic = provider.isCustom ? catalogue.genericTools().filter((tool) => toolFits(tool, provider)) : [];
  for (const [connector, tools] of Map.groupBy(generic, (tool) => tool.connector)) {
    const fitting = new Set(tools.map(({ name }) => name));
    const named = await toolDirectory.names(read, environmentId, connector);
    own.push(...named.filter(({ ownName }) => fitting.has(ownName)));
  }
  return own;
}
