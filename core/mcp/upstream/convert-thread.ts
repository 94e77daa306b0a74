import { type Converted, convertTool } from './to-tool.ts';

export interface ConvertRequest {
  connector: string;
  /** A list of tools with names, as JSON. */
  tools: string;
}

/**
 * The work of converting tools, in its thread.
 *
 * @returns what became of each, as JSON
 */
export function run({ connector, tools }: ConvertRequest): string {
  const given = JSON.parse(tools) as (Record<string, unknown> & { name: string })[];
  return JSON.stringify(given.map((tool): Converted => convertTool(connector, tool)));
}
