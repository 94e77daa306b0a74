import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020, Options } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { SCHEMA, TOOL_INPUT } from '../budgets.ts';
import { PatternBudgetError } from '../connectors/linear-pattern.ts';
import { copyInput, type InputCopy } from './input-copy.ts';
import { inputErrors } from './input-errors.ts';
import { inputProblem } from './input-problem.ts';
import { removeOptionalNulls } from './optional-nulls.ts';
import { withPresetInputs } from './preset-inputs.ts';
import { measureSchema } from './schema-bounds.ts';
import { schemaCompiler } from './schema-compiler.ts';
import { createPatternEngine } from './schema-patterns.ts';
import { type JsonSchema, type Tool, wholeInputSchema } from './tool.ts';

/** A validated input. */
export interface CheckedInput {
  /** The input with its defaults and the inputs that the environment presets, without the cursor. */
  input: Record<string, unknown>;
  /** The cursor of the input, for tools with pagination. */
  cursor?: string;
}

export interface InputChecker {
  /**
   * @throws ApiError INVALID_TOOL_INPUT with an entry for each invalid field, named `tool_input.<path>`: at most 20,
   * and only the first one for a large input
   */
  check(tool: Tool, toolInput: unknown): CheckedInput;
}

/**
 * The two validators of one schema. The thorough one, which reports all errors, is only compiled after the quick one
 * has found an error.
 */
interface Validators {
  quick: ValidateFunction;
  thorough?: ValidateFunction;
}

export interface InputValidator {
  /**
   * Validates an input with a schema, and fills the defaults into it. If the input is invalid, optional members that
   * are null are removed, unless their schema allows null, and the input is validated again.
   *
   * @throws ApiError INVALID_TOOL_INPUT; PatternBudgetError if the patterns of the schema take too many steps;
   * SchemaBoundsError if the schema cannot be used safely
   */
  validate(schema: JsonSchema, input: InputCopy): void;
}

/**
 * Creates a validator of inputs, which compiles each schema at its first use (in about 2 ms) and caches it.
 *
 * @param capacity the maximum number of compiled schemas in the cache
 * @param patternSteps the maximum number of steps that the patterns (regular expressions) of one validation may take
 * @param options of Ajv, the compiler of schemas
 */
export function createInputValidator(capacity: number, patternSteps: number, options: Options = {}): InputValidator {
  const patterns = createPatternEngine(patternSteps);
  let compiled = newCache();
  let made = 0;

  function newCache() {
    // The schemas themselves were checked before they were stored or added to the catalogue.
    const quick = schemaCompiler(patterns, { ...options, allErrors: false, validateSchema: false });
    let thorough: Ajv2020 | undefined;
    const cache = new LRUCache<JsonSchema, Validators>({
      max: capacity,
      // Ajv keeps every schema that it compiled, so a schema removed from the cache must also be removed from Ajv.
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
    // Ajv keeps all code that it ever generated in memory, so its instances are replaced from time to time.
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
      // For a large input, the list of all errors could be longer than the input.
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
 * Creates the checker for inputs of tools with trusted schemas, which are those of the catalogue.
 *
 * @param capacity the maximum number of compiled schemas in the cache
 */
export function createInputChecker(capacity = 500): InputChecker {
  const validator = createInputValidator(capacity, SCHEMA.patternSteps);
  return {
    check(tool, toolInput) {
      const copy = copyInput(toolInput);
      const { cursor, input } = splitCursor(tool, copy.value);
      const whole = withPresetInputs(tool, input);
      try {
        validator.validate(wholeInputSchema(tool), { ...copy, value: whole });
      } catch (error) {
        if (error instanceof PatternBudgetError) throw tooLongForPatterns();
        throw error;
      }
      return { input: whole, ...(cursor !== undefined && { cursor }) };
    },
  };
}

export function tooLongForPatterns() {
  return inputProblem(
    undefined,
    'has values that take too long to check against the patterns of the input_schema: send shorter values',
  );
}

/** Separates the `cursor` from the tool's own inputs; only tools with pagination have one. */
export function splitCursor(tool: Tool, toolInput: Record<string, unknown>): CheckedInput {
  if (!tool.pagination || !Object.hasOwn(toolInput, 'cursor')) return { input: toolInput };
  const { cursor, ...input } = toolInput;
  if (cursor === null || cursor === undefined || cursor === '') return { input };
  if (typeof cursor !== 'string' || cursor.length > TOOL_INPUT.cursorLength) {
    throw inputProblem('cursor', 'must be the next_cursor of an earlier response');
  }
  return { cursor, input };
}

/** Returns the input schema that callers see: the tool's own, with `cursor` added for tools with pagination. */
export function publicInputSchema(tool: Tool): JsonSchema {
  if (!tool.pagination) return tool.input_schema;
  const cursor = {
    type: 'string',
    maxLength: TOOL_INPUT.cursorLength,
    description: 'The next_cursor of the previous response, to get the next page. Repeat the other inputs unchanged.',
  };
  return { ...tool.input_schema, properties: { ...(tool.input_schema['properties'] as object), cursor } };
}
