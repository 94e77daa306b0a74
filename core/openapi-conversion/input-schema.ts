import type { JsonSchema } from '../tools/tool.ts';
import type { Input } from './inputs.ts';
import { DETAILS, type Detail, SchemaWriter, TooLargeError } from './schema.ts';
import type { SchemaReader } from './schema-view.ts';

/**
 * The maximum size of a schema, in characters of its JSON (`bytes`) and in subschemas (`nodes`), and the levels of
 * detail to try, the most detailed first.
 */
interface Bounds {
  bytes: number;
  nodes: number;
  details: readonly Detail[];
}

const INPUT: Bounds = { bytes: 16_384, nodes: 3000, details: DETAILS };
/** Output schemas get less space: they are optional help for a model, and every byte costs tokens. */
const OUTPUT: Bounds = { bytes: 6144, nodes: 500, details: DETAILS.slice(2) };
/**
 * The maximum number of subschemas if even the lowest level of detail exceeds `INPUT`. The size in bytes is then not
 * limited, because a call needs every required input.
 */
const LAST_RESORT = 15_000;

export interface WrittenSchema {
  schema: JsonSchema;
  cut: boolean;
  /** Members below the top level that were dropped because of an invalid name. */
  dropped: string[];
}

/**
 * Builds the input schema of a tool: without references, with as much detail as its size limit allows, and closed, so
 * that a call can contain no other inputs.
 */
export function writeInputSchema(inputs: readonly Input[], read: SchemaReader): WrittenSchema {
  const required = inputs.filter((input) => input.required && input.preset === undefined).map(({ key }) => key);
  const write = (writer: SchemaWriter): JsonSchema => ({
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(inputs.map((input) => [input.key, writeProperty(input, writer)])),
    ...(required.length > 0 && { required }),
  });
  const fitting = firstThatFits(INPUT, read, 'input', write);
  if (fitting) return fitting;
  const writer = new SchemaWriter(read, 'input', DETAILS.at(-1) as Detail, LAST_RESORT);
  return { schema: write(writer), cut: true, dropped: [...writer.dropped] };
}

function writeProperty({ schema, description, fixed, preset }: Input, writer: SchemaWriter): JsonSchema {
  const written = fixed ?? writer.write(schema, 0, description);
  return preset === undefined ? written : { ...written, default: preset };
}

/** Builds the schema of a response; `{}` if the document has none or it is too large. */
export function writeOutputSchema(schema: unknown, read: SchemaReader): JsonSchema {
  if (schema === undefined) return {};
  return firstThatFits(OUTPUT, read, 'output', (writer) => writer.write(schema))?.schema ?? {};
}

function firstThatFits(
  { bytes, nodes, details }: Bounds,
  read: SchemaReader,
  direction: 'input' | 'output',
  write: (writer: SchemaWriter) => JsonSchema,
): WrittenSchema | undefined {
  for (const [level, detail] of details.entries()) {
    try {
      const writer = new SchemaWriter(read, direction, detail, nodes);
      const schema = write(writer);
      if (JSON.stringify(schema).length > bytes) continue;
      return { schema, cut: writer.cut || level > 0, dropped: [...writer.dropped] };
    } catch (error) {
      if (!(error instanceof TooLargeError)) throw error;
    }
  }
  return undefined;
}
