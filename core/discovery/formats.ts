import { publicInputSchema } from '../tools/input.ts';
import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema, Tool } from '../tools/tool.ts';
import { strictSchema } from './openai-strict.ts';

/** The formats in which a tool can be given to a model. */

export interface OpenAiTool {
  type: 'function';
  function: { name: string; description: string; parameters: JsonSchema; strict?: boolean };
}

export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: JsonSchema;
}

export interface McpTool {
  name: string;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

const MAX_DESCRIPTION = 1024;

/**
 * Returns an element of `tools` for the Chat Completions API.
 *
 * @param strict whether the model must follow the schema exactly; the result contains `strict: false` if the schema
 * cannot be expressed in this mode
 */
export function openAiTool(tool: Tool, strict = false): OpenAiTool {
  const { name } = tool;
  const exact = strict ? strictSchema(publicInputSchema(tool)) : undefined;
  const parameters = exact ?? modelSchema(tool);
  const description = tool.description.slice(0, MAX_DESCRIPTION);
  return {
    type: 'function',
    function: { name, description, parameters, ...(strict && { strict: exact !== undefined }) },
  };
}

/** Returns an element of `tools` for the Messages API. */
export function anthropicTool(tool: Tool): AnthropicTool {
  return { name: tool.name, description: tool.description, input_schema: modelSchema(tool) };
}

/**
 * Returns a tool for the Model Context Protocol (revisions 2025-06-18 and later), where a result with a schema must be
 * an object. Other output schemas are omitted.
 */
export function mcpTool(tool: Tool): McpTool {
  const { name, title, description, hints, output_schema: output } = tool;
  return {
    name,
    title,
    description,
    inputSchema: modelSchema(tool),
    ...(output['type'] === 'object' && { outputSchema: plain(output, '') }),
    annotations: {
      readOnlyHint: hints.read_only,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.open_world,
    },
  };
}

function modelSchema(tool: Tool): JsonSchema {
  return plain(publicInputSchema(tool), '');
}

/** Keywords of JSON Schema that map names to schemas: below them, `$comment` is the name of a property. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords whose values are not schemas. */
const VALUES = new Set(['default', 'const', 'enum', 'examples']);

/**
 * Returns a schema without the keywords that only its author or Valetkey uses: `$comment`, `$schema` and the format
 * `file`.
 *
 * @param under the keyword that the schema is the value of; empty for the root, list items and named schemas
 */
function plain(schema: JsonSchema, under: string): JsonSchema {
  const members = Object.entries(schema).filter(
    ([key, value]) =>
      BY_NAME.has(under) || (key !== '$comment' && key !== '$schema' && !(key === 'format' && value === 'file')),
  );
  return Object.fromEntries(
    members.map(([key, value]) => [key, BY_NAME.has(under) ? inside(value, '') : inside(value, key)]),
  );
}

function inside(value: unknown, under: string): unknown {
  if (VALUES.has(under)) return value;
  if (Array.isArray(value)) return value.map((item) => inside(item, ''));
  return isRecord(value) ? plain(value, under) : value;
}
