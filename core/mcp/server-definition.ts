import type { ConnectionRow, EnvironmentId, EnvironmentRow, ReadRepositories } from '../../db/store.ts';

/** A connection of an MCP server, and which of its tools the server offers. */
export interface McpMapping {
  connection: ConnectionRow;
  /** null for every tool that the connection allows. */
  tools: readonly string[] | null;
}

/** The definition of an MCP server: it offers the tools of one connection, or of the connections of a config. */
export interface McpServerDefinition {
  /** The id of the connection or of the config. */
  id: string;
  name: string;
  mappings: McpMapping[];
}

/** Returns the definition of an MCP server; undefined if the environment has no such connection or config. */
export async function findServer(
  read: ReadRepositories,
  environmentId: EnvironmentId,
  id: string,
): Promise<McpServerDefinition | undefined> {
  const config = await read.mcpConfigs.get(environmentId, id);
  if (config) {
    const mappings: McpMapping[] = [];
    for (const { connectionId, tools } of config.mappings) {
      const connection = await read.connections.get(environmentId, connectionId);
      if (connection) mappings.push({ connection, tools });
    }
    return { id, name: config.name, mappings };
  }
  const connection = await read.connections.get(environmentId, id);
  return connection && { id, name: connection.keyId, mappings: [{ connection, tools: null }] };
}

/**
 * Returns the address of an MCP server. Clients are configured with it, and it is the audience of session tokens (RFC
 * 8707).
 */
export function mcpServerUrl({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, id: string): string {
  return `${baseUrl}${MCP_PATH}/${id}`;
}

export const MCP_PATH = '/mcp';
