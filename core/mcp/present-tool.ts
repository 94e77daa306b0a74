import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { mcpTool } from '../discovery/formats.ts';
import type { JsonSchema, Tool } from '../tools/tool.ts';
import { ALL_PAGES, offersAllPages } from './all-pages.ts';

const ALL_PAGES_SCHEMA = {
  type: 'boolean',
  description: 'Whether to read all pages and join their lists, up to the limits of one call. Default: false.',
};
const PAGES_SCHEMA = {
  type: 'object',
  description: 'The pages that `all_pages` has read.',
  properties: {
    count: { type: 'integer', description: 'The number of pages.' },
    complete: { type: 'boolean', description: 'Whether the last page was read.' },
    statement: { type: 'string', description: 'What was read, as a sentence.' },
  },
};

/** Returns a tool as clients of an MCP server see it, including the output schema of a call. */
export function presentMcpTool(tool: Tool): McpTool {
  const shown = mcpTool(tool);
  return {
    ...shown,
    inputSchema: inputSchemaOf(tool, shown.inputSchema) as McpTool['inputSchema'],
    outputSchema: outcomeSchema(tool) as McpTool['outputSchema'],
    annotations: { title: tool.title, ...shown.annotations },
  };
}

function inputSchemaOf(tool: Tool, schema: JsonSchema): JsonSchema {
  if (!offersAllPages(tool)) return schema;
  return { ...schema, properties: { ...(schema['properties'] as object), [ALL_PAGES]: ALL_PAGES_SCHEMA } };
}

/**
 * Returns the schema of a call's output, as in the REST API: `data` after a success, `error` after a failure. One
 * schema has both, because clients also validate failures against it.
 */
function outcomeSchema({ output_schema: data, pagination }: Tool): object {
  const text = (description: string) => ({ type: 'string', description });
  return {
    type: 'object',
    properties: {
      data: { description: 'The result.', ...data },
      execution_id: text('The id of the record of this call.'),
      ...(pagination && { next_cursor: text('Send it as `cursor` to get the next page; absent on the last page.') }),
      ...(pagination && { pages: PAGES_SCHEMA }),
      truncated: { type: 'boolean', description: 'Whether parts of `data` were omitted.' },
      truncation: { type: 'object', description: 'What was omitted.' },
      note: text('More about the result.'),
      error: {
        type: 'object',
        description: 'Why there is no result; absent after a success.',
        properties: {
          code: text('Stable code of the error.'),
          message: text('What happened, for the model.'),
          kind: text('The kind of failure at the provider.'),
          retryable: { type: 'boolean', description: 'Whether the same call may succeed later and is safe to repeat.' },
          retry_after_ms: { type: ['integer', 'null'], description: 'Milliseconds to wait before a retry.' },
          upstream_status: { type: ['integer', 'null'], description: 'The HTTP status that the provider returned.' },
          upstream_body: { description: 'The body that the provider returned.' },
          errors: {
            type: 'array',
            description: 'The invalid inputs.',
            items: { type: 'object', properties: { field: { type: 'string' }, message: { type: 'string' } } },
          },
          next_action: {
            type: 'object',
            description: 'What must happen before the call can succeed.',
            properties: {
              type: { type: 'string' },
              message: { type: 'string' },
              operation_id: { type: 'string' },
              url: text('The address that the user must open.'),
            },
          },
        },
      },
    },
  };
}
