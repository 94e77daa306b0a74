import { MCP_UPSTREAM } from '../../budgets.ts';
import { isRecord } from '../../tools/pointer.ts';
import { schemaCompiler } from '../../tools/schema-compiler.ts';
import { cleanText } from './clean-text.ts';
import { type ConvertedTool, convertTool } from './to-tool.ts';

/** A tool of a server that cannot be one here. */
export interface LeftOut {
  /** The name that the server gives it, cut; its place in the list where it has none. */
  tool: string;
  reason: string;
}

/** What the pages of a list have come to. */
export interface Candidates {
  /** By the names that the server gives them. */
  tools: { sourceId: string; tool: ConvertedTool }[];
  leftOut: LeftOut[];
  /** How many tools the pages had so far. */
  listed: number;
}

const MAX_NAME = 128;

/** Converts the tools of one page of a list, each by itself: one that cannot be used is left out and does not spoil the others. */
export async function convertPage(connector: string, page: readonly unknown[], into: Candidates): Promise<void> {
  const compiler = schemaCompiler();
  const known = new Set(into.tools.map(({ sourceId }) => sourceId));
  for (const given of page) {
    into.listed++;
    if (into.listed > MCP_UPSTREAM.tools) continue;
    // Each takes a few milliseconds.
    await new Promise((resolve) => setImmediate(resolve));
    const name = isRecord(given) ? given['name'] : undefined;
    if (typeof name !== 'string' || name === '') {
      into.leftOut.push({ tool: `#${into.listed}`, reason: 'it has no name' });
    } else if (!known.has(name)) {
      known.add(name);
      const converted = convertTool(connector, given as never, compiler);
      if (converted.ok) into.tools.push({ sourceId: name, tool: converted.tool });
      else into.leftOut.push({ tool: cleanText(name, MAX_NAME), reason: converted.reason });
    }
  }
}

/** The tools that are left out, with a line for those that were not looked at. */
export function allLeftOut({ leftOut, listed }: Candidates): LeftOut[] {
  const { tools } = MCP_UPSTREAM;
  if (listed <= tools) return leftOut;
  const reason = `the server lists ${listed} tools, and ${tools} are read`;
  return [...leftOut, { tool: `#${tools + 1} to #${listed}`, reason }];
}
