import { atPointer, isRecord, percentDecoded } from '../../../tools/pointer.ts';
import type { Changes } from './changes.ts';
import { LIST_WORDS, MAP_WORDS, SCHEMA_WORDS } from './words.ts';

type Data = Record<string, unknown>;

/** Yields the direct subschemas of a schema, each with its keyword and its name or index in that keyword, if any. */
export function* subschemas(node: Readonly<Data>): Generator<[place: string[], schema: unknown]> {
  for (const [word, value] of Object.entries(node)) {
    if (SCHEMA_WORDS.has(word)) yield [[word], value];
    else if (LIST_WORDS.has(word) && Array.isArray(value)) {
      for (const [index, item] of value.entries()) yield [[word, String(index)], item];
    } else if (MAP_WORDS.has(word) && isRecord(value)) {
      for (const [name, item] of Object.entries(value)) yield [[word, name], item];
    }
  }
}

/** The facts about a schema that are needed to make its references local. */
export interface ReferenceFacts {
  /** The `$id` of the schema, with which its references may begin. */
  own: string | undefined;
  /** Whether its `definitions` were renamed to `$defs`. */
  movesDefinitions: boolean;
}

/**
 * Makes references local, and removes external references and references without a target. A schema whose reference was
 * removed accepts what its other keywords allow; without other keywords, any value.
 *
 * @param root cleaned; it is modified
 */
export function removeLostReferences(
  root: Data,
  { own, movesDefinitions }: ReferenceFacts,
  path: readonly string[],
  changes: Changes,
): void {
  const anchors = new Set<string>();
  const local = (reference: string) => {
    const fragment =
      own !== undefined && (reference === own || reference.startsWith(`${own}#`))
        ? reference.slice(own.length) || '#'
        : reference;
    return movesDefinitions ? fragment.replace(/^#\/definitions\//, '#/$defs/') : fragment;
  };
  visit(root, path, (node) => {
    if (typeof node['$anchor'] === 'string') anchors.add(node['$anchor']);
    if (typeof node['$ref'] === 'string') node['$ref'] = local(node['$ref']);
  });
  visit(root, path, (node, place) => {
    if (typeof node['$ref'] !== 'string' || leads(root, node['$ref'], anchors)) return;
    delete node['$ref'];
    changes.add([...place, '$ref'], 'was omitted: it refers to another document');
  });
}

function visit(node: unknown, place: readonly string[], inspect: (node: Data, place: readonly string[]) => void): void {
  if (!isRecord(node)) return;
  inspect(node, place);
  for (const [step, schema] of subschemas(node)) visit(schema, [...place, ...step], inspect);
}

function leads(root: Data, reference: string, anchors: ReadonlySet<string>): boolean {
  if (!reference.startsWith('#')) return false;
  const fragment = percentDecoded(reference.slice(1));
  if (fragment !== '' && !fragment.startsWith('/')) return anchors.has(fragment);
  const target = atPointer(root, fragment);
  return isRecord(target) || typeof target === 'boolean';
}
