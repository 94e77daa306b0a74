import { MCP_UPSTREAM } from '../../budgets.ts';
import { isRecord } from '../../tools/pointer.ts';
import { schemaCompiler } from '../../tools/schema-compiler.ts';
import { type ConvertedTool, convertTool } from './to-tool.ts';

/** What the pages of a list have come to. */
export interface Candidates {
  /** By the names that the server gives them. */
  tools: { sourceId: string; tool: ConvertedTool }[];
  leftOut: { tool: string; reason: string }[];
}

/** Converts the tools of one page of a list, each by itself: one that cannot be used is left out and does not spoil the others. */
export async function convertPage(connector: string, page: readonly unknown[], into: Candidates): Promise<void> {
  const compiler = schemaCompiler();
  const known = new Set(into.tools.map(({ sourceId }) => sourceId));
  for (const [index, given] of page.entries()) {
    // Each takes a few milliseconds.
    await new Promise((resolve) => setImmediate(resolve));
    const name = isRecord(given) && typeof given['name'] === 'string' ? given['name'] : undefined;
    if (name === undefined) {
      into.leftOut.push({ tool: `#${into.tools.length + into.leftOut.length + index + 1}`, reason: 'it has no name' });
      continue;
    }
    if (known.has(name)) continue;
    known.add(name);
    if (into.tools.length >= MCP_UPSTREAM.tools) {
      into.leftOut.push({ tool: name, reason: `the server lists more than ${MCP_UPSTREAM.tools} tools` });
      continue;
    }
    const converted = convertTool(connector, given as never, compiler);
    if (converted.ok) into.tools.push({ sourceId: name, tool: converted.tool });
    else into.leftOut.push({ tool: name, reason: converted.reason });
  }
}
