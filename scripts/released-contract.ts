import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Json, JsonObject } from './openapi-document.ts';

const FOLDER = join(import.meta.dirname, '../releases');
const CONTRACT = join(FOLDER, 'openapi.json');
const ACCEPTED = join(FOLDER, 'accepted-breaks.yaml');
/** Members that no client depends on: texts for readers, and their examples. */
const TEXTS = new Set(['description', 'summary', 'example', 'examples', 'title']);
const HEADER = `# Breaks with the released contract (releases/openapi.json) that were accepted, each as \`make check\` words it, with the reason:
# - change: 'getNote: the operation was removed'
#   reason: No client could call it without the scope notes:read, which no client had.
`;

/** An accepted break with the released contract. */
export interface AcceptedBreak {
  change: string;
  reason: string;
}

/** Returns the contract of the last release without its texts, or null before the first release. */
export function readReleasedContract(): JsonObject | null {
  return existsSync(CONTRACT) ? (JSON.parse(readFileSync(CONTRACT, 'utf8')) as JsonObject) : null;
}

export function readAcceptedBreaks(): AcceptedBreak[] {
  return existsSync(ACCEPTED) ? ((parse(readFileSync(ACCEPTED, 'utf8')) as AcceptedBreak[] | null) ?? []) : [];
}

/** Stores a contract as the released one, and removes all accepted breaks. */
export function writeReleasedContract(contract: JsonObject): void {
  writeFileSync(CONTRACT, `${JSON.stringify(withoutTexts(contract), null, 1)}\n`);
  writeFileSync(ACCEPTED, HEADER);
}

/** Returns a contract without texts. Names in `properties` and similar maps are kept. */
export function withoutTexts(value: Json, isMapOfNames = false): Json {
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => isMapOfNames || !TEXTS.has(key));
  return Object.fromEntries(
    kept.map(([key, inner]) => [key, withoutTexts(inner, !isMapOfNames && MAPS_OF_NAMES.has(key))]),
  );
}

const MAPS_OF_NAMES = new Set([
  'properties',
  'patternProperties',
  'schemas',
  'responses',
  'parameters',
  'headers',
  'paths',
]);

/**
 * Compares the breaks that were found with those that were accepted.
 *
 * @returns one line for each break that was not accepted, and for each accepted break that no longer exists
 */
export function unacceptedBreaks(found: readonly string[], accepted: readonly AcceptedBreak[]): string[] {
  const isAccepted = (finding: string) =>
    accepted.some(({ change, reason }) => change === finding && reason.trim() !== '');
  return [
    ...found.filter((finding) => !isAccepted(finding)),
    ...accepted
      .filter(({ change }) => !found.includes(change))
      .map(({ change }) => `accepted-breaks.yaml lists a change that was not made: ${change}`),
  ];
}
