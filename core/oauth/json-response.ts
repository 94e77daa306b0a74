import type { ResponseRules } from '../connectors/oauth-deviations.ts';
import { atPointer } from '../tools/pointer.ts';

/**
 * The maximum length, in characters. Responses of protocol calls have a few kilobytes; longer ones are HTML pages or
 * malicious.
 */
const MAX_BODY = 256 * 1024;

/** Returns the JSON body of a response; undefined if it is too long or not JSON. */
export async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text.length > MAX_BODY) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Returns the error code of a response by the provider's rules, translated to a code of RFC 6749 §5.2 if the rules
 * contain a translation. Returns an empty string for a failure without a code, and undefined for a success or if there
 * are no rules.
 */
export function failureIn(body: unknown, rules: ResponseRules | undefined): string | undefined {
  if (rules === undefined) return undefined;
  const { success, code: pointer, codes = {} } = rules;
  if (success !== undefined && atPointer(body, success.pointer) === success.equals) return undefined;
  const found = pointer === undefined ? undefined : atPointer(body, pointer);
  const code = typeof found === 'string' || typeof found === 'number' ? String(found) : '';
  if (code === '') return success === undefined ? undefined : '';
  return Object.hasOwn(codes, code) ? codes[code] : code;
}
