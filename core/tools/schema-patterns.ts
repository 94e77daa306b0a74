import { SCHEMA } from '../budgets.ts';
import { compileSearchPattern } from '../connectors/linear-pattern.ts';

export interface PatternEngine {
  /** For Ajv's option `code`. */
  code: { regExp: ((source: string) => { test(value: string): boolean; toString(): string }) & { code: string } };
  /**
   * Runs a validation whose patterns share one budget of steps.
   *
   * @throws PatternBudgetError if the budget is used up
   */
  within<T>(validate: () => T): T;
}

/**
 * Creates an engine that runs the regular expressions of schemas in time linear in the length of the value. Node's
 * built-in engine backtracks: `^(a+)+$` takes seconds for thirty characters and blocks all other requests (threat E12).
 * Compiling a schema with an unsupported pattern throws a PatternError.
 *
 * @param steps the maximum number of steps for all patterns of one validation; an ordinary pattern takes three per
 * character
 */
export function createPatternEngine(steps: number = SCHEMA.patternSteps): PatternEngine {
  const budget = { steps: 0 };
  const regExp = (source: string) => {
    const pattern = compileSearchPattern(source);
    // Ajv caches expressions by their `toString()`.
    return { test: (value: string) => pattern.matches(value, budget), toString: () => `linear:${source}` };
  };
  return {
    code: { regExp: Object.assign(regExp, { code: 'linearRegExp' }) },
    within(validate) {
      budget.steps = steps;
      return validate();
    },
  };
}
