import type { KeywordDefinition } from 'ajv';

/**
 * Implements `uniqueItems` in linear time. Ajv compares every object in a list with all others, which takes seconds for
 * a list of a few thousand objects.
 */
export const uniqueItems: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must have unique items' },
  validate: (isRequired: boolean, items: unknown[]) => !isRequired || areDifferent(items),
};

function areDifferent(items: readonly unknown[]): boolean {
  const seen = new Set<string>();
  return items.every((item) => seen.size !== seen.add(canonical(item)).size);
}

/**
 * Returns the same text for values that JSON Schema considers equal; the order of members does not matter (2020-12 Core
 * §4.2.2).
 */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`;
}
