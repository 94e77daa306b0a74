import type { ValidateFunction } from 'ajv';
import { LRUCache } from 'lru-cache';
import { PatternBudgetError } from '../connectors/linear-pattern.ts';
import { measureSchema } from '../tools/schema-bounds.ts';
import { schemaCompiler } from '../tools/schema-compiler.ts';
import { createPatternEngine } from '../tools/schema-patterns.ts';
import type { JsonSchema } from '../tools/tool.ts';

export interface OutputValidator {
  /**
   * Whether data matches a schema. Also false if the schema is invalid or too complex, or if its regular expressions
   * take too long.
   */
  fits(schema: JsonSchema, data: unknown): boolean;
}

/**
 * Validates results against the advertised output schemas.
 *
 * @param capacity the maximum number of compiled schemas that are kept
 * @param patternSteps the maximum number of steps that all regular expressions of one validation may take together
 */
export function createOutputValidator(capacity: number, patternSteps: number): OutputValidator {
  const patterns = createPatternEngine(patternSteps);
  let ajv = newCompiler();
  let made = 0;
  const compiled = new LRUCache<JsonSchema, { validate: ValidateFunction | null }>({
    max: capacity,
    dispose: (_compiled, schema) => ajv.removeSchema(schema),
  });

  function newCompiler() {
    return schemaCompiler(patterns, { strict: false, allErrors: false, useDefaults: false, validateSchema: false });
  }

  function compile(schema: JsonSchema): ValidateFunction | null {
    // Ajv keeps all code that it ever generated in memory, so its instances are replaced from time to time.
    if (made++ >= 2 * capacity) {
      compiled.clear();
      ajv = newCompiler();
      made = 1;
    }
    try {
      measureSchema(schema);
      return ajv.compile(schema);
    } catch {
      return null;
    }
  }

  return {
    fits(schema, data) {
      const known = compiled.get(schema) ?? { validate: compile(schema) };
      compiled.set(schema, known);
      const { validate } = known;
      try {
        return validate !== null && patterns.within(() => validate(data));
      } catch (error) {
        if (error instanceof PatternBudgetError) return false;
        throw error;
      }
    },
  };
}
