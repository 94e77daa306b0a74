import { isRecord } from '../tools/pointer.ts';
import { type Resolver, referenceOf } from './resolve.ts';

const MAX_NAMED = 3;
/** Keywords whose values are data: a `$ref` in them is not a reference. */
const VALUES = new Set(['example', 'default', 'enum', 'const', 'value']);

/**
 * Reports references without a target: to another host, to a file that was not given, or to a missing part of the
 * document. The parts that contain such references are omitted or accept any value, so the report must say why.
 *
 * @returns an empty list, or a list with one sentence
 */
export function danglingReferences(document: Record<string, unknown>, resolve: Resolver): string[] {
  const dangling = new Set<string>();
  const seen = new Set<unknown>();
  const queue: unknown[] = [document];
  while (queue.length > 0) {
    const node = queue.pop();
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    seen.add(node);
    const reference = isRecord(node) ? referenceOf(node) : undefined;
    if (reference !== undefined && resolve(node) === undefined) dangling.add(reference);
    for (const [key, value] of Object.entries(node)) if (!VALUES.has(key)) queue.push(value);
  }
  if (dangling.size === 0) return [];
  const named = [...dangling].slice(0, MAX_NAMED).map((reference) => reference.slice(0, 200));
  const more = dangling.size > MAX_NAMED ? ` and ${dangling.size - MAX_NAMED} more` : '';
  return [
    `References without a target: ${named.join(', ')}${more}. The referring parts are omitted or accept any value.`,
  ];
}
