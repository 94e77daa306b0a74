import { ApiError } from '../../core/errors.ts';
import { type Pairs, parsePairs } from '../pipeline/query.ts';
import type { BodyRule } from './body-rule.ts';

/** The characters of a parameter name (RFC 6749 appendix A). */
const NAME = /^[-._0-9A-Za-z]+$/;

/**
 * Parses a form body. If the rule lists parameters, all others are ignored (RFC 6749 §3.2), but an ignored parameter
 * that is repeated or has an invalid name is an error. A listed parameter that is repeated has a list as its value.
 *
 * @throws ApiError MALFORMED_BODY, VALIDATION_FAILED
 */
export function parseForm(text: string, { maxPairs, parameters }: BodyRule): Pairs {
  const pairs = parsePairs(text, 'the body', maxPairs);
  if (parameters === null) return pairs;
  for (const [name, value] of Object.entries(pairs)) {
    if (parameters.has(name)) continue;
    if (!NAME.test(name))
      throw new ApiError(
        'MALFORMED_BODY',
        'The body has a parameter name with characters other than letters, digits, hyphens, underscores and dots.',
      );
    if (typeof value !== 'string') {
      const message = 'must be given once';
      throw new ApiError('VALIDATION_FAILED', 'The request does not match the contract.', {
        errors: [{ field: name.slice(0, 100), message }],
      });
    }
    delete pairs[name];
  }
  return pairs;
}
