import { rfc3339 } from '../text/rfc3339.ts';

/** In the contract, an empty text means that there is no value. */
export const EMPTY = '';

/** @param ms milliseconds UTC */
export function optionalTime(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}
