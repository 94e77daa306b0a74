import { EgressError } from './egress-error.ts';
import { FRAMING_HEADERS } from './framing-headers.ts';

/** Headers as a record, or as pairs of name and value. */
export type HeaderInput = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Checks the headers of a request and returns them as a flat list: name, value, name, value. Each name is allowed only
 * once: several values of a header must be joined by commas (RFC 9110 §5.3), and if a request had two credentials, the
 * receiver would choose one of them.
 *
 * @param defaults names in lower case, with default values
 * @throws EgressError `blocked` that names the header, never its value
 */
export function flatHeaders(input: HeaderInput, defaults: Readonly<Record<string, string>> = {}): string[] {
  const pairs: readonly (readonly [string, string])[] = isPairs(input) ? input : Object.entries(input);
  const seen = new Set<string>();
  const flat: string[] = [];
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase();
    if (!NAME.test(name)) throw refused(name, 'is not a valid header name');
    if (FRAMING_HEADERS.has(lower) || lower.startsWith('proxy-')) throw refused(name, 'must not be set by a caller');
    if (seen.has(lower)) throw refused(name, 'is set twice');
    if (!VALUE.test(value)) throw refused(name, 'has a value with characters that are not allowed in a header');
    seen.add(lower);
    flat.push(name, value);
  }
  for (const [name, value] of Object.entries(defaults)) if (!seen.has(name)) flat.push(name, value);
  return flat;
}

function isPairs(input: HeaderInput): input is readonly (readonly [string, string])[] {
  return Array.isArray(input);
}

function refused(name: string, why: string): EgressError {
  return new EgressError('blocked', `The header ${JSON.stringify(name.slice(0, 64))} ${why}.`);
}
