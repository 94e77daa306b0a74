import type { ConnectionRow, EnvironmentId, EnvironmentRow, ReadRepositories } from '../../db/store.ts';

/** A connection behind an MCP server, and which of its tools are offered there. */
export interface McpMapping {
  connection: ConnectionRow;
  /** null: every tool that the connection allows. */
  tools: readonly string[] | null;
}

/** What an MCP server of ours offers: the tools of one connection, or those of the connections of a config. */
export interface McpServerDefinition {
  /** The id of the connection or of the config. */
  id: string;
  name: string;
  mappings: McpMapping[];
}

/** Finds what an MCP server offers now; undefined when there is no such connection or config in the environment. */
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

/** The address of an MCP server: what clients are configured with, and the audience of its session tokens (RFC 8707). */
export function mcpServerUrl({ baseUrl }: Pick<EnvironmentRow, 'baseUrl'>, id: string): string {
  return `${baseUrl}${MCP_PATH}/${id}`;
}

export const MCP_PATH = '/mcp';
