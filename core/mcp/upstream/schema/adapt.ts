import type { Ajv2020 } from 'ajv/dist/2020.js';
import { createResolver } from '../../../openapi-conversion/resolve.ts';
import {
  DETAILS,
  type Detail,
  type Direction,
  SchemaWriter,
  TooLargeError,
} from '../../../openapi-conversion/schema.ts';
import { createSchemaReader } from '../../../openapi-conversion/schema-view.ts';
import { isRecord } from '../../../tools/pointer.ts';
import { measureSchema } from '../../../tools/schema-bounds.ts';
import { NON_STRICT, schemaCompiler } from '../../../tools/schema-compiler.ts';
import type { JsonSchema } from '../../../tools/tool.ts';
import { Changes } from './changes.ts';
import { cleanSchema } from './clean-schema.ts';
import { flattenTop } from './flatten.ts';
import { removeLostReferences } from './references.ts';
import { type Names, renameProperties } from './rename.ts';

type Data = Record<string, unknown>;

export interface AdaptedInput {
  schema: JsonSchema;
  /** The server's property names, keyed by the names in `schema`. */
  names: Names;
  /** What was removed, renamed or simplified: a sentence for each change. */
  changes: string[];
}

const INPUT = 'inputSchema';
const OUTPUT = 'outputSchema';
const MAX_NODES = 3000;

/**
 * Converts the input schema of an MCP tool to a schema that Valetkey can compile and every model API accepts: JSON
 * Schema 2020-12 with an object at the top, legal names and local references. Only the keywords that cannot be kept are
 * removed, so that names, types and descriptions of parameters stay. If the result cannot be compiled, for example
 * because it is recursive or too large, it is reduced further. `changes` lists what was changed.
 *
 * @param given not validated yet
 * @returns undefined if `given` does not describe an object, or if the reduced schema cannot be used either
 */
export function adaptInput(given: unknown): AdaptedInput | undefined {
  if (!isRecord(given)) return undefined;
  const changes = new Changes();
  const cleaned = selfContained(given, INPUT, changes);
  const flat = flattenTop(cleaned, [INPUT], changes);
  if (!flat) return undefined;
  const { schema, names } = renameProperties(flat, [INPUT], changes);
  const usable = compiles(schema) ? schema : simplified(schema, 'input', INPUT, changes);
  return usable && { schema: usable, names, changes: changes.list };
}

/**
 * Converts the output schema of an MCP tool to a schema without references, because it becomes part of another schema.
 *
 * @returns an undefined `schema` if the output schema cannot be used
 */
export function adaptOutput(given: unknown): { schema: JsonSchema | undefined; changes: string[] } {
  const changes = new Changes();
  if (!isRecord(given)) return { schema: undefined, changes: [`${OUTPUT} was omitted: it is not an object`] };
  const cleaned = selfContained(given, OUTPUT, changes);
  const plain = !hasReference(cleaned) && compiles(cleaned) ? cleaned : simplified(cleaned, 'output', OUTPUT, changes);
  const schema = plain && [plain['type']].flat().includes('object') ? { ...plain, type: 'object' } : undefined;
  if (!plain) changes.add([OUTPUT], 'was omitted: it is invalid or too large');
  else if (!schema) changes.add([OUTPUT], 'was omitted: it does not describe an object');
  return { schema, changes: changes.list };
}

function selfContained(given: Data, name: string, changes: Changes): Data {
  const cleaned = cleanSchema(given, [name], changes) as Data;
  const { definitions, ...root } = cleaned;
  // Drafts before 2019-09 use the name `definitions` for `$defs`.
  if (isRecord(definitions)) root['$defs'] = { ...definitions, ...(isRecord(root['$defs']) && root['$defs']) };
  const own = typeof given['$id'] === 'string' ? given['$id'] : undefined;
  removeLostReferences(root, { own, movesDefinitions: isRecord(definitions) }, [name], changes);
  return root;
}

function hasReference(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  return typeof (node as Data)['$ref'] === 'string' || Object.values(node).some(hasReference);
}

let compiler: Ajv2020 | undefined;
let compiled = 0;

function compiles(schema: JsonSchema): boolean {
  // Ajv keeps all code that it ever generated in memory, so its instances are replaced from time to time.
  if (!compiler || compiled++ % 500 === 0) compiler = schemaCompiler(undefined, NON_STRICT);
  try {
    measureSchema(schema);
    compiler.compile(schema);
    return true;
  } catch {
    return false;
  } finally {
    compiler.removeSchema(schema);
  }
}

/**
 * Reduces a schema that cannot be used as a whole. References are expanded, and the nesting, descriptions and
 * alternatives are reduced in steps until the schema is small enough.
 *
 * @returns undefined if the reduced schema cannot be used either
 */
function simplified(schema: Data, direction: Direction, name: string, changes: Changes): Data | undefined {
  const reader = createSchemaReader(createResolver(schema));
  for (const detail of DETAILS) {
    const written = writeWith(new SchemaWriter(reader, direction, detail as Detail, MAX_NODES), schema);
    if (!written || !compiles(written)) continue;
    changes.add([name], 'was simplified: it is recursive or too large');
    return { ...written };
  }
  return undefined;
}

function writeWith(writer: SchemaWriter, schema: Data): JsonSchema | undefined {
  try {
    return writer.write(schema);
  } catch (error) {
    if (error instanceof TooLargeError) return undefined;
    throw error;
  }
}
