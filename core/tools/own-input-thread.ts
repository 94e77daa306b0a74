import { LRUCache } from 'lru-cache';
import { SCHEMA, TOOL_INPUT } from '../budgets.ts';
import { PatternBudgetError } from '../connectors/linear-pattern.ts';
import { createInputValidator, tooLongForPatterns } from './input.ts';
import { copyInput } from './input-copy.ts';
import { inputProblem } from './input-problem.ts';
import type { InputJobRequest } from './own-input.ts';
import { NON_STRICT } from './schema-compiler.ts';
import type { JsonSchema } from './tool.ts';

const KEPT = 50;
const strict = createInputValidator(KEPT, SCHEMA.threadPatternSteps);
const loose = createInputValidator(KEPT, SCHEMA.threadPatternSteps, NON_STRICT);
const schemas = new LRUCache<string, JsonSchema>({ max: KEPT });

/**
 * Validates an input of a tool with an untrusted schema; the worker thread of `inputJob` calls this function.
 *
 * @returns the input with its defaults, as JSON
 * @throws ApiError INVALID_TOOL_INPUT
 */
export function run({ isMcp, schema, input }: InputJobRequest): string {
  const known = schemas.get(schema.key) ?? (JSON.parse(schema.json) as JsonSchema);
  schemas.set(schema.key, known);
  const copy = copyInput(JSON.parse(input));
  try {
    (isMcp ? loose : strict).validate(known, copy);
  } catch (error) {
    if (error instanceof PatternBudgetError) throw tooLongForPatterns();
    throw error;
  }
  const filled = JSON.stringify(copy.value);
  if (filled.length > TOOL_INPUT.filledBytes) {
    throw inputProblem(
      undefined,
      `must have at most ${TOOL_INPUT.filledBytes} bytes including the defaults of its schema`,
    );
  }
  return filled;
}
