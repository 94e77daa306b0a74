import type { AnswerRules } from '../connectors/oauth-deviations.ts';
import { atPointer } from '../tools/pointer.ts';

/** In characters. Responses of protocol calls have a few kilobytes; more is an HTML page, or hostile. */
const MAX_BODY = 256 * 1024;

/** The JSON body of a response; undefined if there is no usable one. */
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
 * The code of the failure that a response reports by the rules of its provider, as a code of RFC 6749 §5.2 if the rules translate
 * it; an empty string for a failure without a code; undefined for a success.
 */
export function failureIn(body: unknown, rules: AnswerRules | undefined): string | undefined {
  if (rules === undefined) return undefined;
  const { success, code: pointer, codes = {} } = rules;
  if (success !== undefined && atPointer(body, success.pointer) === success.equals) return undefined;
  const found = pointer === undefined ? undefined : atPointer(body, pointer);
  const code = typeof found === 'string' || typeof found === 'number' ? String(found) : '';
  if (code === '') return success === undefined ? undefined : '';
  return Object.hasOwn(codes, code) ? codes[code] : code;
}
