import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatVocabulary from 'ajv/dist/vocabularies/format/format.js';
import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { PatternBudgetError } from '../connectors/linear-pattern.ts';
import { ApiError, type FieldError } from '../errors.ts';
import { dotted } from './field-path.ts';
import { FILE_FORMAT } from './file-input.ts';
import { inputProblem } from './input-problem.ts';
import { isRecord } from './pointer.ts';
import { createPatternEngine } from './schema-patterns.ts';
import type { JsonSchema, Tool } from './tool.ts';

/** What a call was asked to do, after the schema had its say. */
export interface CheckedInput {
  /** Defaults filled in; without the cursor. */
  input: Record<string, unknown>;
  /** As the caller gave it, for tools with pagination. */
  cursor?: string;
}

export interface InputChecker {
  /** @throws ApiError INVALID_TOOL_INPUT with one error per offending field, named `tool_input.<path>` */
  check(tool: Tool, toolInput: unknown): CheckedInput;
}

/** The largest tool_input, in bytes of JSON, and its deepest nesting. */
export const INPUT_LIMITS = { bytes: 262_144, depth: 32 } as const;
const SCHEMA_LIMITS = { nodes: 20_000, depth: 64 } as const;
const MAX_ERRORS = 20;
const MAX_CURSOR_LENGTH = 8192;

/**
 * Checks tool inputs. A schema is compiled when its tool is first called (2 ms each, so thousands are never compiled at
 * start) and forgotten when too many others were used since.
 *
 * @param capacity how many compiled schemas are kept
 */
export function createInputChecker(capacity = 500): InputChecker {
  const patterns = createPatternEngine();
  const ajv = schemaCompiler(patterns);
  // By the schema itself, not by name: two environments may each have a tool of one name.
  const compiled = new LRUCache<JsonSchema, ValidateFunction>({
    max: capacity,
    // Ajv holds every schema that it compiled; without this the bound would be none.
    dispose: (_validate, schema) => ajv.removeSchema(schema),
  });
  const validatorOf = ({ input_schema: schema }: Tool): ValidateFunction => {
    const known = compiled.get(schema);
    if (known) return known;
    assertLocalSchema(schema);
    const validate = ajv.compile(schema);
    compiled.set(schema, validate);
    return validate;
  };
  return {
    check: (tool, toolInput) => {
      if (!isRecord(toolInput)) throw inputProblem(undefined, 'must be an object');
      const { cursor, input } = splitCursor(tool, copyWithinLimits(toolInput));
      const validate = validatorOf(tool);
      try {
        if (!patterns.within(() => validate(input))) throw refused(validate.errors ?? []);
      } catch (error) {
        if (error instanceof PatternBudgetError)
          throw inputProblem(undefined, 'holds values too long for their patterns');
        throw error;
      }
      return { input, cursor };
    },
  };
}

/** The compiler of tool schemas, shared with the catalogue's check: JSON Schema 2020-12, strict, defaults filled in. */
export function schemaCompiler({ code } = createPatternEngine()): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    allErrors: true,
    useDefaults: true,
    code,
  });
  formats.default(ajv);
  // A file input is an object with a format; the library knows formats of texts and numbers alone.
  ajv.removeKeyword('format');
  ajv.addKeyword({ ...formatVocabulary.default, type: ['string', 'number', 'object'] });
  ajv.addFormat(FILE_FORMAT, true);
  return ajv;
}

/**
 * Refuses schemas that point elsewhere or are too large to compile safely (threat E12).
 *
 * @throws Error; a catalogue that was checked holds none
 */
export function assertLocalSchema(schema: unknown): void {
  let nodes = 0;
  const visit = (node: unknown, depth: number): void => {
    if (typeof node !== 'object' || node === null) return;
    if (++nodes > SCHEMA_LIMITS.nodes || depth > SCHEMA_LIMITS.depth) throw new Error('The schema is too large');
    for (const [key, value] of Object.entries(node)) {
      const reference = (key === '$ref' || key === '$dynamicRef') && typeof value === 'string';
      if (reference && !value.startsWith('#')) throw new Error('The schema refers to another document');
      // A schema with a name would be known to every schema that is compiled after it, those of other environments included.
      if (key === '$id' && typeof value === 'string') throw new Error('The schema must not have an $id');
      visit(value, depth + 1);
    }
  };
  visit(schema, 0);
}

/** A copy that defaults can be filled into. */
function copyWithinLimits(toolInput: Record<string, unknown>): Record<string, unknown> {
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
    if (bytes > INPUT_LIMITS.bytes) throw inputProblem(undefined, `must have at most ${INPUT_LIMITS.bytes} bytes`);
  };
  const copyOf = (value: unknown, depth: number): unknown => {
    if (depth > INPUT_LIMITS.depth)
      throw inputProblem(undefined, `must be nested at most ${INPUT_LIMITS.depth} levels`);
    count(typeof value === 'string' ? Buffer.byteLength(value) : 8);
    if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1));
    return isRecord(value) ? copyOfRecord(value, depth) : value;
  };
  const copyOfRecord = (record: Record<string, unknown>, depth: number): Record<string, unknown> => {
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(record)) {
      if (key === '__proto__') throw inputProblem(undefined, 'must not have a member named __proto__');
      count(Buffer.byteLength(key));
      copy[key] = copyOf(record[key], depth + 1);
    }
    return copy;
  };
  return copyOf(toolInput, 0) as Record<string, unknown>;
}

/** `cursor` belongs to the engine: tools with pagination take it beside their own inputs. */
function splitCursor(tool: Tool, toolInput: Record<string, unknown>): CheckedInput {
  if (!tool.pagination || !Object.hasOwn(toolInput, 'cursor')) return { input: toolInput };
  const { cursor, ...input } = toolInput;
  if (cursor === null || cursor === undefined || cursor === '') return { input };
  if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_LENGTH) {
    throw inputProblem('cursor', 'must be the next_cursor of an earlier answer');
  }
  return { cursor, input };
}

function refused(problems: readonly ErrorObject[]): ApiError {
  const errors = problems.slice(0, MAX_ERRORS).map(fieldError);
  const first = errors[0];
  return new ApiError('INVALID_TOOL_INPUT', first ? `${first.field} ${first.message}` : 'tool_input does not fit', {
    errors,
  });
}

function fieldError({ instancePath, keyword, params, message }: ErrorObject): FieldError {
  const path = dotted(instancePath, 'tool_input');
  switch (keyword) {
    case 'required':
      return { field: `${path}.${params['missingProperty']}`, message: 'is required' };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return {
        field: `${path}.${params['additionalProperty'] ?? params['unevaluatedProperty']}`,
        message: 'is not known',
      };
    case 'enum':
      return {
        field: path,
        message: `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`,
      };
    default:
      return { field: path, message: message ?? 'does not fit' };
  }
}

/** The input schema that callers see: the tool's own, with the engine's `cursor` where the tool has pagination. */
export function publicInputSchema(tool: Tool): JsonSchema {
  if (!tool.pagination) return tool.input_schema;
  const cursor = {
    type: 'string',
    maxLength: MAX_CURSOR_LENGTH,
    description: 'The next_cursor of the previous answer, to get the next page. Repeat the other inputs unchanged.',
  };
  return { ...tool.input_schema, properties: { ...(tool.input_schema['properties'] as object), cursor } };
}
