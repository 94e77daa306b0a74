import { type Converted, convertTool } from './to-tool.ts';

export interface ConvertRequest {
  connector: string;
  /** A JSON list of tools with names. */
  tools: string;
}

/**
 * Converts tools of an MCP server. It runs in a worker thread.
 *
 * @returns the result for each tool, as JSON
 */
export function run({ connector, tools }: ConvertRequest): string {
  const given = JSON.parse(tools) as (Record<string, unknown> & { name: string })[];
  return JSON.stringify(given.map((tool): Converted => convertTool(connector, tool)));
}
