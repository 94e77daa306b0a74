import type {
  ConnectionRow,
  EnvironmentId,
  EnvironmentRow,
  ReadRepositories,
  StoredMcpMapping,
} from '../../db/store.ts';
import { MCP_SERVER } from '../budgets.ts';

/** A connection of an MCP server, and the tools, resources and prompts that the server offers from it. */
export interface McpMapping {
  connection: ConnectionRow;
  /** The names of the offered tools, as they are without overlays; null for every tool that the connection allows. */
  tools: readonly string[] | null;
  /**
   * The maximum number of the connection's tools in `tools/list`; null for no limit. Unlisted tools can still be
   * called.
   */
  maxListed: number | null;
  /** Whether resources are offered. Only the connections of third-party MCP servers have resources and prompts. */
  resources: boolean;
  prompts: boolean;
}

/** The definition of an MCP server: it offers the tools of one connection, or of the connections of a config. */
export interface McpServerDefinition {
  /** The id of the connection or of the config. */
  id: string;
  name: string;
  mappings: McpMapping[];
}

/** The MCP server of a single connection offers all allowed tools. Only a config can enable resources and prompts. */
const TOOLS_ONLY = { tools: null, maxListed: MCP_SERVER.listedTools, resources: false, prompts: false };

const CONFIG_ID = /^mcp_/;

/**
 * Returns the definition of an MCP server; undefined if the environment has no such connection or config. Mappings of a
 * config to deleted connections are left out.
 */
export async function findServer(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  id: string,
): Promise<McpServerDefinition | undefined> {
  if (CONFIG_ID.test(id)) {
    const config = await read.mcpConfigs.get(environmentId, id);
    if (!config) return undefined;
    const mappings: McpMapping[] = [];
    for (const mapping of config.mappings) {
      const { connectionId, tools, resources = false, prompts = false } = mapping;
      const connection = await read.connections.get(environmentId, connectionId);
      if (connection) mappings.push({ connection, tools, maxListed: maxListedOf(mapping), resources, prompts });
    }
    return { id, name: config.name, mappings };
  }
  const connection = await read.connections.get(environmentId, id);
  return connection && { id, name: connection.keyId, mappings: [{ connection, ...TOOLS_ONLY }] };
}

/**
 * Returns the maximum number of a mapping's tools in `tools/list`. It is null, for no limit, if the mapping names its
 * tools or sets `maxListed` to null.
 */
export function maxListedOf({ tools, maxListed = MCP_SERVER.listedTools }: Omit<StoredMcpMapping, 'connectionId'>) {
  return tools === null ? maxListed : null;
}

/**
 * Returns the address of an MCP server. Clients are configured with it, and it is the audience of session tokens (RFC
 * 8707).
 */
export function mcpServerUrl({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, id: string): string {
  return `${baseUrl}${MCP_PATH}/${id}`;
}

export const MCP_PATH = '/mcp';
