import type { JsonSchema } from '../tools/tool.ts';
import type { Input } from './inputs.ts';
import { DETAILS, type Detail, SchemaWriter, TooLargeError } from './schema.ts';
import type { SchemaReader } from './schema-view.ts';

/** How large a schema may become, in bytes of JSON and in schemas within it, and which details are tried. */
interface Bounds {
  bytes: number;
  nodes: number;
  details: readonly Detail[];
}

const INPUT: Bounds = { bytes: 16_384, nodes: 3000, details: DETAILS };
/** Output schemas only help a model, so they get less space; a model pays for every byte. */
const OUTPUT: Bounds = { bytes: 6144, nodes: 500, details: DETAILS.slice(2) };
/** A call needs every required input, even if there are many. */
const LAST_RESORT = 15_000;

export interface WrittenSchema {
  schema: JsonSchema;
  cut: boolean;
  /** Members below the top that have no legal name. */
  dropped: string[];
}

/** One input schema of all inputs: closed, without references, as detailed as its size allows. */
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

/** The schema of a response; `{}` if the document has none or it is too large. */
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
