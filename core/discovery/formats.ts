import { publicInputSchema } from '../tools/input.ts';
import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema, Tool } from '../tools/tool.ts';
import { strictSchema } from './openai-strict.ts';

/** The shapes in which a tool can be handed to a model. */

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
 * An element of `tools` of the Chat Completions API.
 *
 * @param strict the API is to follow the schema exactly, which `strict: false` says that it cannot for this tool
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

/** An element of `tools` of the Messages API. */
export function anthropicTool(tool: Tool): AnthropicTool {
  return { name: tool.name, description: tool.description, input_schema: modelSchema(tool) };
}

/** A tool of the Model Context Protocol (revisions 2025-06-18 and later): a result with a schema must be an object there. */
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

/** Words of JSON Schema whose members are schemas by name: there a `$comment` is a property. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Words that hold values, not schemas. */
const VALUES = new Set(['default', 'const', 'enum', 'examples']);

/** A schema without what speaks to its author or to our engine alone. */
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
