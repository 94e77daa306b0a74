/** Where a tool of an environment comes from. */
export type ToolSource = 'custom' | 'import' | 'mcp';

export interface EnvironmentToolRow {
  name: string;
  /** The identifier of the provider whose accounts run it. */
  connector: string;
  source: ToolSource;
  /** The name that its source gives it, such as the id of an operation. */
  sourceId: string | null;
  /** The stored JSON text. A caller that needs it parsed caches the result by `contentHash`. */
  definition: string;
  contentHash: string;
  /** Why a tool whose source has changed needs a review; null for one that can be run. */
  flagged: string | null;
  /** The revision of the environment in which the row was last written. */
  revision: number;
  version: number;
  createdAt: number;
  updatedAt: number;
}

/** A tool to be written: `definition` is any object that JSON can represent, `at` is milliseconds UTC. */
export type NewEnvironmentTool = Pick<EnvironmentToolRow, 'name' | 'connector' | 'source' | 'sourceId'> & {
  definition: object;
  flagged?: string | null;
  at: number;
};

/** A tool without its definition. */
export type EnvironmentToolEntry = Pick<EnvironmentToolRow, 'name' | 'source' | 'sourceId' | 'contentHash' | 'flagged'>;

export interface ToolListRequest {
  /** Tools of this provider only. */
  connector?: string | undefined;
  /** Tools whose names come after this one. */
  after?: string;
  limit: number;
}
