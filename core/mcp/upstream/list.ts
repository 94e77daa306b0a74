import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { REQUEST_MS, withUpstream } from './connect.ts';
import type { UpstreamFetch } from './upstream-fetch.ts';

/** What one server may offer; whatever comes after is left out. */
const MAX_TOOLS = 1000;
const MAX_PAGES = 50;

/** Asks an MCP server for all its tools, as it describes them. @throws what the protocol's package throws */
export async function listUpstreamTools(url: URL, wire: UpstreamFetch): Promise<McpTool[]> {
  return withUpstream(url, wire, async (client) => {
    const all: McpTool[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES && all.length < MAX_TOOLS; page++) {
      const { tools, nextCursor } = await client.listTools(cursor === undefined ? {} : { cursor }, {
        timeout: REQUEST_MS,
      });
      all.push(...tools);
      if (nextCursor === undefined || nextCursor === cursor) break;
      cursor = nextCursor;
    }
    return all.slice(0, MAX_TOOLS);
  });
}
