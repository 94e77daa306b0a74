import { isRecord } from '../../core/tools/pointer.ts';
import type { JsonSchema, Tool } from '../../core/tools/tool.ts';
import type { Comparison } from '../catalogue-files.ts';
import { type ToolWords, type Words, wordsOf } from './words.ts';

/** Formats that Valetkey's schema compiler supports. */
const FORMATS = new Set(['date', 'date-time', 'email', 'uri', 'uuid']);

/**
 * Adds the texts of words.yaml to an imported tool.
 *
 * @param output the schema of its response
 * @throws Error for a required input without a text
 */
export function finishTool(
  imported: Tool,
  entry: ToolWords,
  words: Words,
  output: JsonSchema,
): Omit<Tool, 'connector'> & { compared?: Comparison } {
  const scopes = words.scopes[entry.scopes];
  if (!scopes) throw new Error(`there are no scopes ${entry.scopes}`);
  const input = inputSchema(imported, entry, words);
  const response = {
    ...(entry.select && { select: entry.select }),
    ...(entry.fields && { fields: entry.fields }),
    ...(entry.base64 && { base64: entry.base64 }),
  };
  return {
    name: entry.name,
    title: entry.title,
    description: entry.description,
    tags: entry.tags,
    hints: entry.hints,
    scopes,
    input_schema: input,
    output_schema: output,
    examples: entry.examples.map((example) => ({
      input: { ...samples(input, entry, words), ...example.input },
      note: example.note,
    })),
    request: imported.request,
    ...(imported.pagination && { pagination: imported.pagination }),
    ...(Object.keys(response).length > 0 && { response }),
    compared: { ...words.compared, ...entry.compared },
  };
}

function inputSchema({ input_schema }: Tool, entry: ToolWords, words: Words): JsonSchema {
  const given = input_schema['properties'] as Record<string, JsonSchema>;
  const properties = Object.entries(given).map(([name, schema]): [string, JsonSchema] => {
    const about = wordsOf(words, entry, name);
    if (!about) throw new Error(`the input ${name} has no words`);
    return [name, { ...(about.schema ?? closed(schema)), description: about.description }];
  });
  for (const name of Object.keys(entry.inputs ?? {})) {
    if (!Object.hasOwn(given, name)) throw new Error(`the description knows no input ${name}`);
  }
  const needed = new Set(Array.isArray(input_schema['required']) ? (input_schema['required'] as string[]) : []);
  for (const [name] of properties) if (wordsOf(words, entry, name)?.required) needed.add(name);
  const required = properties.map(([name]) => name).filter((name) => needed.has(name));
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
  };
}

/** Returns a schema in which every object says whether it allows other members, without the vendor's texts. */
function closed(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'description' || (key === 'format' && !FORMATS.has(String(value)))) return [];
    if (key === 'properties' && isRecord(value)) {
      return [
        [key, Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member as JsonSchema)]))],
      ];
    }
    if (Array.isArray(value)) return [[key, value.map((item) => (isRecord(item) ? closed(item) : item))]];
    return [[key, isRecord(value) ? closed(value) : value]];
  });
  const written = Object.fromEntries(entries);
  const isObject = [written['type']].flat().includes('object') || isRecord(written['properties']);
  if (!isObject || isRecord(written['additionalProperties'])) return written;
  return { ...written, additionalProperties: false };
}

/** Returns sample values for the required inputs. */
function samples(schema: JsonSchema, entry: ToolWords, words: Words): Record<string, unknown> {
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
  return Object.fromEntries(
    required.flatMap((name) => {
      const sample = wordsOf(words, entry, name)?.sample;
      return sample === undefined ? [] : [[name, sample]];
    }),
  );
}
