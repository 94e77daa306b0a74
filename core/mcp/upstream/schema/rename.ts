import { legalKey } from '../../../openapi-conversion/inputs.ts';
import { LEGAL_KEY } from '../../../openapi-conversion/schema.ts';
import { isRecord } from '../../../tools/pointer.ts';
import type { Changes } from './changes.ts';
import { subschemas } from './references.ts';
import { LIST_WORDS, MAP_WORDS, SCHEMA_WORDS } from './words.ts';

type Data = Record<string, unknown>;

/** The server's property names, keyed by the new names, which model APIs accept. Only renamed properties are in it. */
export type Names = Readonly<Record<string, string>>;

/**
 * Gives every property a name that model APIs accept (`$filter` → `filter`), at every level. Each name of the server
 * has exactly one new name in the whole schema, and vice versa, so the renaming can be reversed.
 *
 * @param root cleaned; a changed copy is returned
 * @returns the schema, and `names`, which is empty if nothing was renamed
 */
export function renameProperties(
  root: Data,
  path: readonly string[],
  changes: Changes,
): { schema: Data; names: Names } {
  const all = new Set<string>();
  collect(root, all);
  const illegal = [...all].filter((name) => !isLegal(name)).sort();
  if (illegal.length === 0) return { schema: root, names: {} };
  const taken = new Set([...all].filter(isLegal));
  const ours = new Map<string, string>();
  for (const name of illegal) {
    const plain = legalKey(name, 'body');
    const free = taken.has(plain) ? legalKey(`${plain}_${name}`, 'body') : plain;
    let alias = free;
    for (let count = ours.size; taken.has(alias); count++) alias = `${free.slice(0, 56)}_${count}`;
    taken.add(alias);
    ours.set(name, alias);
    changes.add([...path, name], `was renamed to ${alias}`);
  }
  const names = Object.fromEntries([...ours].map(([name, alias]) => [alias, name]));
  return { schema: renamed(root, ours) as Data, names };
}

function isLegal(name: string): boolean {
  return LEGAL_KEY.test(name) && name !== '__proto__';
}

function collect(node: unknown, into: Set<string>): void {
  if (!isRecord(node)) return;
  for (const name of Object.keys(isRecord(node['properties']) ? node['properties'] : {})) into.add(name);
  for (const [, schema] of subschemas(node)) collect(schema, into);
}

function renamed(node: unknown, names: ReadonlyMap<string, string>): unknown {
  if (!isRecord(node)) return node;
  const own = (name: string) => names.get(name) ?? name;
  const byName = (value: Data) =>
    Object.fromEntries(Object.entries(value).map(([name, schema]) => [own(name), renamed(schema, names)]));
  return Object.fromEntries(
    Object.entries(node).map(([word, value]) => {
      if (word === 'properties' || word === 'dependentSchemas') return [word, byName(value as Data)];
      if (word === 'required') return [word, (value as string[]).map(own)];
      if (word === 'dependentRequired') return [word, renamedLists(value as Record<string, string[]>, own)];
      if (SCHEMA_WORDS.has(word)) return [word, renamed(value, names)];
      if (LIST_WORDS.has(word)) return [word, (value as unknown[]).map((item) => renamed(item, names))];
      if (!MAP_WORDS.has(word)) return [word, value];
      return [
        word,
        Object.fromEntries(Object.entries(value as Data).map(([key, item]) => [key, renamed(item, names)])),
      ];
    }),
  );
}

function renamedLists(lists: Record<string, string[]>, own: (name: string) => string): object {
  return Object.fromEntries(Object.entries(lists).map(([name, others]) => [own(name), others.map(own)]));
}
