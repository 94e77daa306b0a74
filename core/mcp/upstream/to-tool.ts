import { createHash } from 'node:crypto';
import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { searchPatternProblem } from '../../connectors/linear-pattern.ts';
import { isRecord } from '../../tools/pointer.ts';
import { measureSchema } from '../../tools/schema-bounds.ts';
import { schemaCompiler } from '../../tools/schema-compiler.ts';
import type { JsonSchema, Tool } from '../../tools/tool.ts';
import { toolPrefix } from '../../tools/tool-name.ts';
import { cleanText, hasHiddenText } from './clean-text.ts';

const MAX_NAME = 64;
const MAX_TITLE = 120;
const MAX_DESCRIPTION = 2000;
const MAX_SCHEMA_TEXT = 1000;
const MAX_SCHEMA_BYTES = 64 * 1024;
const HASH_CHARS = 8;

/** Where a sentence stands in a schema. Other texts are values, which are taken as they are or not at all. */
const SENTENCES = new Set(['title', 'description', '$comment']);
/** Words that name the schema itself, and would make it another one's reference. */
const LEFT_OUT = new Set(['$schema', '$id', '$anchor', '$dynamicAnchor', '$vocabulary', 'x-mcp-header']);

/** A tool that has no name of ours yet; `name` keeps the place of it. */
export type ConvertedTool = Tool;

export type Converted = { ok: true; tool: ConvertedTool } | { ok: false; reason: string };

/**
 * Makes a tool of the environment of what an MCP server says about one of its own. The server's words are data (threat P6): hidden
 * characters are taken out, lengths are capped, schemas that cannot be compiled safely are replaced by one that takes any object.
 *
 * @param compiler for one list, which makes it once
 */
export function convertTool(connector: string, given: McpTool, compiler = schemaCompiler()): Converted {
  if (hasHiddenText(given.name) || given.name.length > 128)
    return refused('its name holds characters that cannot be seen');
  if (Buffer.byteLength(JSON.stringify([given.inputSchema, given.outputSchema ?? null])) > MAX_SCHEMA_BYTES) {
    return refused('its schemas are too large');
  }
  const { annotations = {} } = given;
  const title = cleanText(annotations.title ?? given.title ?? given.name, MAX_TITLE) || given.name;
  const readOnly = annotations.readOnlyHint === true;
  return {
    ok: true,
    tool: {
      connector,
      name: '',
      title,
      description: cleanText(given.description ?? '', MAX_DESCRIPTION) || `${title}.`,
      tags: ['mcp'],
      // What a server does not say is taken for the worst, as the protocol has it.
      hints: {
        read_only: readOnly,
        destructive: !readOnly && annotations.destructiveHint !== false,
        idempotent: readOnly || annotations.idempotentHint === true,
        open_world: annotations.openWorldHint !== false,
      },
      scopes: [],
      input_schema: usable(given.inputSchema, compiler) ?? { type: 'object' },
      output_schema: (given.outputSchema && usable(given.outputSchema, compiler)) || CONTENT,
      examples: [],
      request: { method: 'POST', path: '' },
      mcp: { name: given.name },
    },
  };
}

const CONTENT: JsonSchema = {
  type: 'object',
  properties: {
    content: { type: 'array', description: 'What the server answered, in parts.', items: { type: 'object' } },
  },
};

/** The name of a tool here: the provider's prefix and the server's name in legal characters, made unique by a hash where it is cut. */
export function upstreamToolName(connector: string, name: string, isTaken: (name: string) => boolean): string {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '');
  const whole = `${toolPrefix(connector)}${plain || 'tool'}`;
  if (whole.length <= MAX_NAME && !isTaken(whole)) return whole;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_CHARS);
  return `${whole.slice(0, MAX_NAME - HASH_CHARS - 1).replace(/_+$/, '')}_${hash}`;
}

function refused(reason: string): Converted {
  return { ok: false, reason };
}

/** The schema cleaned, as it is or without its formats; undefined when neither compiles. */
function usable(schema: unknown, compiler: Compiler): JsonSchema | undefined {
  for (const leaveOut of [LEFT_OUT, new Set([...LEFT_OUT, 'format'])]) {
    const cleaned = cleanSchema(schema, leaveOut);
    if (isRecord(cleaned) && cleaned['type'] === 'object' && compiles(cleaned, compiler)) return cleaned;
  }
  return undefined;
}

type Compiler = ReturnType<typeof schemaCompiler>;

function compiles(schema: JsonSchema, compiler: Compiler): boolean {
  try {
    measureSchema(schema);
    compiler.compile(structuredClone(schema));
    return true;
  } catch {
    return false;
  }
}

/** @param isMap the members are names of properties or definitions, not words of the schema */
function cleanSchema(node: unknown, leaveOut: ReadonlySet<string>, isMap = false): unknown {
  if (Array.isArray(node)) return node.map((item) => cleanSchema(item, leaveOut));
  if (!isRecord(node)) return node;
  const kept = Object.entries(isMap ? node : withoutCostlyPatterns(node)).filter(
    ([key]) => isMap || !leaveOut.has(key),
  );
  return Object.fromEntries(
    kept.map(([key, value]) => {
      const isSentence = !isMap && SENTENCES.has(key) && typeof value === 'string';
      const isMapNext = !isMap && /^(properties|patternProperties|\$defs|definitions|dependentSchemas)$/.test(key);
      return [key, isSentence ? cleanText(value, MAX_SCHEMA_TEXT) : cleanSchema(value, leaveOut, isMapNext)];
    }),
  );
}

/**
 * A regular expression whose time nothing bounds is never run: it becomes words for the model, and the server checks the value itself.
 * Members whose names it would have told apart are then taken as they come.
 */
function withoutCostlyPatterns(node: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { pattern, patternProperties, description } = node;
  const kept: Record<string, unknown> = { ...node };
  if (typeof pattern === 'string' && searchPatternProblem(pattern) !== undefined) {
    delete kept['pattern'];
    const said = typeof description === 'string' ? `${description} ` : '';
    kept['description'] = `${said}Pattern: ${pattern}`;
  }
  if (isRecord(patternProperties) && Object.keys(patternProperties).some((name) => searchPatternProblem(name))) {
    delete kept['patternProperties'];
    delete kept['additionalProperties'];
    delete kept['unevaluatedProperties'];
  }
  return kept;
}
