import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import { PatternBudgetError } from '../connectors/linear-pattern.ts';
import { assertLocalSchema } from '../tools/input.ts';
import { createPatternEngine } from '../tools/schema-patterns.ts';
import type { JsonSchema, Tool } from '../tools/tool.ts';

export interface OutputChecker {
  /** Whether what a provider answered has the shape that its tool declares. */
  fits(tool: Tool, data: unknown): boolean;
}

/**
 * Checks results against the schemas that were advertised for them: clients of MCP refuse what does not fit, and a provider may answer
 * what it likes.
 *
 * @param capacity how many compiled schemas are kept
 */
export function createOutputChecker(capacity = 500): OutputChecker {
  const patterns = createPatternEngine();
  const ajv = new Ajv2020({ strict: false, validateFormats: true, code: patterns.code });
  formats.default(ajv);
  const compiled = new LRUCache<string, { schema: JsonSchema; validate: ValidateFunction | null }>({
    max: capacity,
    dispose: ({ schema }) => ajv.removeSchema(schema),
  });
  return {
    fits(tool, data) {
      let known = compiled.get(tool.name);
      if (known?.schema !== tool.output_schema) {
        known = { schema: tool.output_schema, validate: compile(tool.output_schema) };
        compiled.set(tool.name, known);
      }
      const { validate } = known;
      if (!validate) return false;
      try {
        return patterns.within(() => validate(data));
      } catch (error) {
        // Nobody can say in reasonable time, so nothing is promised.
        if (error instanceof PatternBudgetError) return false;
        throw error;
      }
    },
  };

  function compile(schema: JsonSchema): ValidateFunction | null {
    try {
      assertLocalSchema(schema);
      return ajv.compile(schema);
    } catch {
      return null;
    }
  }
}
