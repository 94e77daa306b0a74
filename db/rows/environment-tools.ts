/** How a tool was added to an environment. */
export type ToolSource = 'custom' | 'import' | 'mcp';

export interface EnvironmentToolRow {
  name: string;
  /** The identifier of the provider whose accounts run it. */
  connector: string;
  source: ToolSource;
  /** What identifies the tool at its source: method and path of an operation, or the tool name of an MCP server. */
  sourceId: string | null;
  /** The definition as JSON text. A caller that needs it parsed should cache the result by `contentHash`. */
  definition: string;
  contentHash: string;
  /** Why a tool whose source has changed must be reviewed; null if it can be run. */
  flagged: string | null;
  /** The revision of the environment when the row was last written. */
  revision: number;
  version: number;
  createdAt: number;
  updatedAt: number;
}

/** A tool to write: `definition` is any object that JSON can represent, `at` is milliseconds UTC. */
export type NewEnvironmentTool = Pick<EnvironmentToolRow, 'name' | 'connector' | 'source' | 'sourceId'> & {
  definition: object;
  flagged?: string | null;
  at: number;
};

/** A tool without its definition. */
export type EnvironmentToolEntry = Pick<EnvironmentToolRow, 'name' | 'source' | 'sourceId' | 'contentHash' | 'flagged'>;

export interface ToolListRequest {
  /** Only tools of this provider. */
  connector?: string | undefined;
  /** Only tools whose names are sorted after this one. */
  after?: string;
  limit: number;
}
