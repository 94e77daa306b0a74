import { ApiError } from '../../core/errors.ts';

export type Pairs = Record<string, string | string[]>;

/**
 * Creates an object without inherited names. `Object.create(null)` would create a dictionary object, and each access to
 * it takes longer than the rest of parsing a short query.
 */
function EmptyPairs(): void {}
EmptyPairs.prototype = Object.create(null);
const emptyPairs = EmptyPairs as unknown as new () => Pairs;

/**
 * Parses `application/x-www-form-urlencoded` text: a query string or a form body. A repeated name becomes an array,
 * which the contract's schemas then reject where they expect one value.
 *
 * @param place the name of the text in errors
 * @param limit the maximum number of parameters
 * @throws ApiError MALFORMED_BODY if a percent-encoding is invalid, or for too many parameters
 */
export function parsePairs(text: string, place: string, limit: number): Pairs {
  const pairs = new emptyPairs();
  if (text === '') return pairs;
  const parts = text.split('&', limit + 1);
  if (parts.length > limit)
    throw new ApiError('MALFORMED_BODY', `${capitalized(place)} has more than ${limit} parameters.`);
  for (const part of parts) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals < 0 ? part : part.slice(0, equals), place);
    const value = equals < 0 ? '' : decode(part.slice(equals + 1), place);
    const earlier = pairs[name];
    if (earlier === undefined) pairs[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else pairs[name] = [earlier, value];
  }
  return pairs;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function decode(text: string, place: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new ApiError(
      'MALFORMED_BODY',
      `${capitalized(place)} contains an invalid percent-encoding: encode text as UTF-8, and "%" as "%25".`,
      { cause },
    );
  }
}
