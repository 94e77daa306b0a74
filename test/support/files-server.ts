import * as sdk from '@modelcontextprotocol/server';

export const FILES_ORIGIN = 'https://files.example';
/** The address of the MCP server, and the resource that its tokens are for. */
export const FILES_RESOURCE = `${FILES_ORIGIN}/mcp`;
export const OAUTH_MCP_PATTERN = { type: 'OAUTH', is_mcp: true };

/** An MCP server with one tool, `list`, which returns the name of a file. */
export function createFilesServer(): sdk.McpServer {
  const server = new sdk.McpServer({ name: 'files', version: '1' }, { capabilities: { tools: {} } });
  const inputSchema = sdk.fromJsonSchema({ type: 'object' } as never);
  server.registerTool('list', { description: 'Lists files.', inputSchema }, (() => ({
    content: [{ type: 'text', text: 'a.txt' }],
  })) as never);
  return server;
}
