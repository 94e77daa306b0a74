import { rfc3339 } from '../rfc3339.ts';

/** How the contract says that there is no text. */
export const EMPTY = '';

/** @param ms milliseconds UTC */
export function optionalTime(ms: number | null): string | null {
  return ms === null ? null : rfc3339(ms);
}
