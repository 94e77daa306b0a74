import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020, Options } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { SCHEMA, TOOL_INPUT } from '../budgets.ts';
import { PatternBudgetError } from '../connectors/linear-pattern.ts';
import { copyInput, type InputCopy } from './input-copy.ts';
import { inputErrors } from './input-errors.ts';
import { inputProblem } from './input-problem.ts';
import { removeOptionalNulls } from './optional-nulls.ts';
import { measureSchema } from './schema-bounds.ts';
import { schemaCompiler } from './schema-compiler.ts';
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

/** Of one schema; all errors are only looked for once there is one. */
interface Validators {
  quick: ValidateFunction;
  thorough?: ValidateFunction;
}

export interface InputValidator {
  /**
   * Compares an input with a schema and fills in defaults. Null for an optional input that does not take null is the same as an input
   * that was left out.
   *
   * @throws ApiError INVALID_TOOL_INPUT; PatternBudgetError when its patterns take too long
   */
  validate(schema: JsonSchema, input: InputCopy): void;
}

/**
 * Validates inputs with schemas that it compiles when they are first needed (2 ms each) and forgets when too many others were used
 * since.
 *
 * @param capacity how many compiled schemas are kept
 * @param patternSteps what the patterns of one validation may take
 * @param options of the compiler
 */
export function createInputValidator(capacity: number, patternSteps: number, options: Options = {}): InputValidator {
  const patterns = createPatternEngine(patternSteps);
  let compiled = newCache();
  let made = 0;

  function newCache() {
    // Schemas are compared with their own schema when they are written.
    const quick = schemaCompiler(patterns, { ...options, allErrors: false, validateSchema: false });
    let thorough: Ajv2020 | undefined;
    const cache = new LRUCache<JsonSchema, Validators>({
      max: capacity,
      // Ajv holds every schema that it compiled; without this the bound would be none.
      dispose: (_validators, schema) => {
        quick.removeSchema(schema);
        thorough?.removeSchema(schema);
      },
    });
    return {
      cache,
      quick: (schema: JsonSchema) => quick.compile(schema),
      thorough: (schema: JsonSchema) => {
        thorough ??= schemaCompiler(patterns, { ...options, validateSchema: false });
        return thorough.compile(schema);
      },
    };
  }

  function validatorsOf(schema: JsonSchema): Validators {
    const known = compiled.cache.get(schema);
    if (known) return known;
    measureSchema(schema);
    // Ajv keeps the values of all code that it ever wrote, so its instances are renewed.
    if (made++ >= 2 * capacity) {
      compiled = newCache();
      made = 0;
    }
    const validators: Validators = { quick: compiled.quick(schema) };
    compiled.cache.set(schema, validators);
    return validators;
  }

  return {
    validate(schema, { value, nodes }) {
      const validators = validatorsOf(schema);
      let problems = errorsOf(validators.quick, value);
      if (problems.length > 0 && removeOptionalNulls(value, schema)) problems = errorsOf(validators.quick, value);
      if (problems.length === 0) return;
      // The list of all errors of a large input is longer than the input.
      if (nodes > SCHEMA.thoroughNodes) throw inputErrors(problems);
      validators.thorough ??= compiled.thorough(schema);
      const all = errorsOf(validators.thorough, value);
      throw inputErrors(all.length > 0 ? all : problems);
    },
  };

  function errorsOf(validate: ValidateFunction, value: unknown): ErrorObject[] {
    return patterns.within(() => validate(value)) ? [] : (validate.errors ?? []);
  }
}

/**
 * Checks inputs of tools with trusted schemas, those of the catalogue.
 *
 * @param capacity how many compiled schemas are kept
 */
export function createInputChecker(capacity = 500): InputChecker {
  const validator = createInputValidator(capacity, SCHEMA.patternSteps);
  return {
    check(tool, toolInput) {
      const copy = copyInput(toolInput);
      const { cursor, input } = splitCursor(tool, copy.value);
      try {
        validator.validate(tool.input_schema, { ...copy, value: input });
      } catch (error) {
        if (error instanceof PatternBudgetError) throw tooLongForPatterns();
        throw error;
      }
      return { input, ...(cursor !== undefined && { cursor }) };
    },
  };
}

export function tooLongForPatterns() {
  return inputProblem(undefined, 'has values that are too long for their patterns');
}

/** `cursor` belongs to the engine: tools with pagination take it beside their own inputs. */
export function splitCursor(tool: Tool, toolInput: Record<string, unknown>): CheckedInput {
  if (!tool.pagination || !Object.hasOwn(toolInput, 'cursor')) return { input: toolInput };
  const { cursor, ...input } = toolInput;
  if (cursor === null || cursor === undefined || cursor === '') return { input };
  if (typeof cursor !== 'string' || cursor.length > TOOL_INPUT.cursorLength) {
    throw inputProblem('cursor', 'must be the next_cursor of an earlier response');
  }
  return { cursor, input };
}

/** The input schema that callers see: the tool's own, with the engine's `cursor` where the tool has pagination. */
export function publicInputSchema(tool: Tool): JsonSchema {
  if (!tool.pagination) return tool.input_schema;
  const cursor = {
    type: 'string',
    maxLength: TOOL_INPUT.cursorLength,
    description: 'The next_cursor of the previous response, to get the next page. Repeat the other inputs unchanged.',
  };
  return { ...tool.input_schema, properties: { ...(tool.input_schema['properties'] as object), cursor } };
}
