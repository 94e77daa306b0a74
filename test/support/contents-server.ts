import * as sdk from '@modelcontextprotocol/server';
import type { ModernServer } from './mcp-upstream.ts';
import { startModernServer } from './mcp-upstream.ts';

export const NOTE = 'file:///notes/1.md';

/**
 * Starts an MCP server of the newer revision, made with the protocol's package, that offers a note as a resource, notes
 * by a template, and a prompt. Its texts contain its name.
 *
 * @param tools the names of its tools, which a test may change
 */
export function startContentsServer(name: string, tools: readonly string[] = []): Promise<ModernServer> {
  return startModernServer(() => {
    const server = new sdk.McpServer({ name, version: '1' }, { capabilities: { tools: {} } });
    server.registerResource('note', NOTE, { title: `Note of ${name}`, mimeType: 'text/markdown' }, ({ href }) => ({
      contents: [{ uri: href, mimeType: 'text/markdown', text: `the note of ${name}` }],
    }));
    const inputSchema = sdk.fromJsonSchema({ type: 'object' } as never);
    for (const tool of tools) server.registerTool(tool, { inputSchema }, (() => ({ content: [] })) as never);
    const template = new sdk.ResourceTemplate('file:///notes/by/{author}', { list: undefined });
    server.registerResource('notes', template, { title: 'Notes' }, ({ href }, { author }) => ({
      contents: [{ uri: href, blob: Buffer.from(`by ${author}`).toString('base64') }],
    }));
    const argsSchema = sdk.fromJsonSchema({
      type: 'object',
      required: ['style'],
      properties: { style: { type: 'string', description: 'How to write.' } },
    } as never);
    server.registerPrompt(
      'summarize',
      { title: 'Summarize', argsSchema } as never,
      (({ style }: { style: string }) => ({
        messages: [
          { role: 'user', content: { type: 'text', text: `Summarize ${style} for ${name}.` } },
          { role: 'user', content: { type: 'resource_link', uri: NOTE, name: 'note' } },
          { role: 'user', content: { type: 'resource', resource: { uri: NOTE, text: 'inside' } } },
        ],
      })) as never,
    );
    return server;
  });
}

/**
 * Starts an MCP server with three pages of 200 resources, whose reads last until their client cancels.
 *
 * @param reads counts the reads that have begun, and those that a client has cancelled
 */
export function startPagedServer(reads: { begun: number; cancelled: number }): Promise<ModernServer> {
  return startModernServer(() => {
    const server = new sdk.McpServer({ name: 'paged', version: '1' }, { capabilities: { resources: {} } });
    server.server.setRequestHandler('resources/list', ({ params }) => {
      const page = Number(params?.cursor ?? 0);
      const resources = Array.from({ length: 200 }, (_, index) => {
        const name = `${page * 200 + index}`;
        return { name, uri: `item://${name}` };
      });
      return { resources, ...(page < 2 && { nextCursor: `${page + 1}` }) };
    });
    server.server.setRequestHandler('resources/read', (_request, { mcpReq }) => {
      const { promise, reject } = Promise.withResolvers<never>();
      reads.begun += 1;
      mcpReq.signal.addEventListener('abort', () => {
        reads.cancelled += 1;
        reject(new Error('cancelled'));
      });
      return promise;
    });
    return server;
  });
}
