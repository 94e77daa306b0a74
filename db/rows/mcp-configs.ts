import type { EnvironmentId } from '../environment-id.ts';

/** A connection of an MCP server, and which of its tools the server offers; null for all of them. */
export interface StoredMcpMapping {
  connectionId: string;
  tools: string[] | null;
  /** The maximum number of tools that are listed if `tools` is null; null for all. Absent: the default. */
  maxListed?: number | null;
  /** Whether resources of a third-party MCP server are offered. Absent in rows of earlier versions. */
  resources?: boolean;
  /** Whether prompts of a third-party MCP server are offered. Absent in rows of earlier versions. */
  prompts?: boolean;
}

export interface McpConfigRow {
  id: string;
  environmentId: EnvironmentId;
  name: string;
  description: string;
  mappings: StoredMcpMapping[];
  version: number;
  createdAt: number;
  updatedAt: number;
}

export type NewMcpConfig = Omit<McpConfigRow, 'environmentId' | 'version'>;

export type McpConfigChanges = Pick<McpConfigRow, 'name' | 'description' | 'mappings' | 'updatedAt'>;
