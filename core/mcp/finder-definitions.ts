import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { MCP_SERVER } from '../budgets.ts';

export const SEARCH_TOOLS = 'valetkey_search_tools';
export const CALL_TOOL = 'valetkey_call_tool';

/** The two tools that an MCP server adds to its `tools/list` if it offers tools that are not listed there. */
export const FINDER_TOOLS: readonly McpTool[] = [
  {
    name: SEARCH_TOOLS,
    title: 'Search tools',
    description: `Finds tools of this server that are not listed, by a task in plain words, such as "refund a payment". Returns names, descriptions and input schemas, best first. Call a tool that was found with ${CALL_TOOL}. Changes nothing.`,
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['query'],
      properties: {
        query: {
          type: 'string',
          minLength: 1,
          maxLength: 500,
          description: 'The task, with the application if it is known.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: MCP_SERVER.mostToolsFound,
          default: MCP_SERVER.toolsFound,
          description: 'How many tools to return.',
        },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['tools'],
      properties: {
        tools: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'description', 'inputSchema'],
            properties: {
              name: { type: 'string', description: 'The name, for the call.' },
              description: { type: 'string', description: 'What the tool does.' },
              inputSchema: { type: 'object', description: 'The JSON Schema of its arguments.' },
            },
          },
        },
        note: { type: 'string', description: 'More about the result.' },
      },
    },
    annotations: {
      title: 'Search tools',
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
  },
  {
    name: CALL_TOOL,
    title: 'Call a found tool',
    description: `Calls a tool of this server by its name, also if it is not listed. Find the name and the input schema with ${SEARCH_TOOLS} first. Returns what the tool returns. Call listed tools directly.`,
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: {
        name: {
          type: 'string',
          minLength: 1,
          maxLength: 64,
          description: `The name of the tool, from ${SEARCH_TOOLS}.`,
        },
        arguments: { type: 'object', description: 'The arguments, which must match the input schema of the tool.' },
      },
    },
    // The hints describe the worst case, because this tool can call any other tool.
    annotations: {
      title: 'Call a found tool',
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
  },
];
