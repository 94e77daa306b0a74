import { compileSearchPattern } from '../connectors/linear-pattern.ts';

/**
 * Runs the regular expressions of schemas that others wrote in time that the length of the value bounds. The platform's own engine
 * backtracks: `^(a+)+$` takes it seconds for thirty characters, and everybody else waits meanwhile (threat E12).
 *
 * @throws PatternError while a schema is compiled
 */
function linearRegExp(source: string) {
  const pattern = compileSearchPattern(source);
  // The validator keeps one expression for each text that it writes itself as.
  return { test: (value: string) => pattern.matches(value), toString: () => `linear:${source}` };
}

/** For the option `code` of ajv. */
export const LINEAR_PATTERNS = { regExp: Object.assign(linearRegExp, { code: 'linearRegExp' }) };
