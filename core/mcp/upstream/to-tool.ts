import { createHash } from 'node:crypto';
import { MCP_UPSTREAM } from '../../budgets.ts';
import { isRecord } from '../../tools/pointer.ts';
import type { JsonSchema, Tool } from '../../tools/tool.ts';
import { toolPrefix } from '../../tools/tool-name.ts';
import { cleanText, hasHiddenText } from './clean-text.ts';
import { adaptInput, adaptOutput } from './schema/adapt.ts';
import { readHeaderParameters } from './schema/header-parameters.ts';

const MAX_NAME = 64;
const MAX_THEIR_NAME = 128;
const MAX_TITLE = 120;
const MAX_SCHEMA_BYTES = 64 * 1024;
const HASH_CHARS = 8;

export type Converted =
  | {
      ok: true;
      /** The tool with an empty `name`, which the caller sets. */
      tool: Tool;
      /** The changes made to the schemas. */
      changes: string[];
    }
  | { ok: false; reason: string };

/**
 * Converts a tool of an MCP server to a tool of the environment. The server's texts are untrusted data (threat P6):
 * hidden characters are removed, lengths are limited, and only supported parts of the schemas are kept. Optional
 * members that violate the protocol are ignored.
 *
 * @param given the tool from the server's list, with a name
 * @returns the tool, or why it cannot be used
 */
export function convertTool(connector: string, given: Readonly<Record<string, unknown>> & { name: string }): Converted {
  const { name, inputSchema, outputSchema } = given;
  if (name.length > MAX_THEIR_NAME) return refused(`its name has more than ${MAX_THEIR_NAME} characters`);
  if (hasHiddenText(name)) return refused('its name has invisible characters');
  if (!isRecord(inputSchema)) return refused('its input schema is not an object');
  if (Buffer.byteLength(JSON.stringify([inputSchema, outputSchema ?? null])) > MAX_SCHEMA_BYTES) {
    return refused(`its schemas have more than ${MAX_SCHEMA_BYTES} bytes`);
  }
  const headers = readHeaderParameters(inputSchema);
  if (!headers.ok) return refused(headers.reason);
  const input = adaptInput(inputSchema);
  if (!input) return refused('its input schema does not describe an object');
  const output = outputSchema === undefined ? undefined : adaptOutput(outputSchema);
  const annotations = isRecord(given['annotations']) ? given['annotations'] : {};
  const title = cleanText(textOf(annotations['title']) ?? textOf(given['title']) ?? name, MAX_TITLE) || name;
  const readOnly = annotations['readOnlyHint'] === true;
  const tool: Tool = {
    connector,
    name: '',
    title,
    description: cleanText(textOf(given['description']) ?? '', MCP_UPSTREAM.descriptionChars) || `${title}.`,
    tags: ['mcp'],
    // A missing hint means the most dangerous value, as the protocol requires.
    hints: {
      read_only: readOnly,
      destructive: !readOnly && annotations['destructiveHint'] !== false,
      idempotent: readOnly || annotations['idempotentHint'] === true,
      open_world: annotations['openWorldHint'] !== false,
    },
    scopes: [],
    input_schema: input.schema,
    output_schema: output?.schema ?? CONTENT,
    examples: [],
    request: { method: 'POST', path: '' },
    mcp: {
      name,
      pin: pinOf(given),
      ...(Object.keys(input.names).length > 0 && { names: input.names }),
      ...(headers.headers.length > 0 && { headers: headers.headers }),
    },
  };
  return { ok: true, tool, changes: [...input.changes, ...(output?.changes ?? [])] };
}

const CONTENT: JsonSchema = {
  type: 'object',
  properties: {
    content: { type: 'array', description: "The parts of the server's result.", items: { type: 'object' } },
  },
};

/**
 * Returns the name of a stored tool: the provider's prefix and the server's name in legal characters. A name that is
 * too long or taken is cut if necessary and ends with a hash of the server's name. The result may still be taken.
 */
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

/** Returns the hash of the parts of a tool's definition that are used. The order of members does not matter. */
function pinOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: Readonly<Record<string, unknown>>) {
  const definition = sorted([name, title, description, inputSchema, outputSchema, annotations]);
  return createHash('sha256').update(JSON.stringify(definition)).digest('base64url');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).map(([key, member]): [string, unknown] => [key, sorted(member)]);
  return members.sort(([a], [b]) => (a < b ? -1 : 1));
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function refused(reason: string): Converted {
  return { ok: false, reason };
}
