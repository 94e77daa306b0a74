import { branchesOf, membersOf, type SchemaReader, typesOf } from '../../core/openapi-conversion/schema-view.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';

/** The members to keep, by name; a member without children is kept as a whole. */
type Tree = Map<string, Tree>;

/**
 * Returns the schema of a response after `select` and `fields`, with the types in the API's description.
 *
 * @param any members that have any type, although the description types them
 * @throws Error for a field that is not in the description
 */
export function responseSchema(
  schema: unknown,
  read: SchemaReader,
  select: string | undefined,
  fields: readonly string[],
  any: readonly string[] = [],
): JsonSchema {
  const root = treeOf(fields);
  let selected = schema;
  for (const name of segments(select ?? '')) selected = memberOf(viewOf(selected, read), name, read);
  const view = viewOf(selected, read);
  if (typesOf(view).includes('array')) return { type: 'array', items: written(view['items'], root, read, any) };
  return written(selected, root, read, any);
}

/** Returns the schema of a response that is not described anywhere: the kept members, of any type. */
export function keptSchema(fields: readonly string[], isList: boolean): JsonSchema {
  const { type: _type, ...item } = untyped(treeOf(fields));
  return isList ? { type: 'array', items: { type: 'object', ...item } } : { type: 'object', ...item };
}

function untyped(tree: Tree): JsonSchema {
  const items = tree.get('*');
  if (items) return { type: ['array', 'null'], items: untyped(items) };
  if (tree.size === 0) return {};
  const members = [...tree].map(([name, below]): [string, JsonSchema] => [name, untyped(below)]);
  return { type: ['object', 'null'], properties: Object.fromEntries(members) };
}

function treeOf(fields: readonly string[]): Tree {
  const root: Tree = new Map();
  for (const field of fields) {
    let node = root;
    for (const name of segments(field)) {
      const next: Tree = node.get(name) ?? new Map();
      node.set(name, next);
      node = next;
    }
  }
  return root;
}

function written(node: unknown, tree: Tree, read: SchemaReader, any: readonly string[]): JsonSchema {
  const mixed = tree.size === 0 ? mixedTypes(node, read) : [];
  if (mixed.length > 1) return { type: mixed };
  const { view, nullable } = plainView(node, read);
  const types = typesOf(view);
  const typed = (type: string): JsonSchema => ({ type: nullable || types.includes('null') ? [type, 'null'] : type });
  if (types.includes('array')) {
    const items = tree.get('*') ?? (tree.size === 0 ? new Map() : undefined);
    if (!items) throw new Error('a list is read by *');
    return { ...typed('array'), items: written(view['items'], items, read, any) };
  }
  if (tree.size > 0) {
    const properties = Object.fromEntries(
      [...tree].map(([name, below]) => {
        const member = memberOf(view, name, read);
        return [name, any.includes(name) ? {} : written(member, below, read, any)];
      }),
    );
    return { ...typed('object'), properties };
  }
  const plain = types.filter((type) => type !== 'null');
  const [only] = plain;
  return only !== undefined && plain.length === 1 ? typed(only) : {};
}

/**
 * Returns the types of a value whose alternatives have different types, such as a text or a list; otherwise an empty
 * list.
 */
function mixedTypes(node: unknown, read: SchemaReader): string[] {
  const alternatives = branchesOf(read(node) ?? {}).map((branch) => typesOf(read(branch) ?? {}));
  if (alternatives.some((types) => types.length === 0)) return [];
  const types = [...new Set(alternatives.flat())];
  return types.filter((type) => type !== 'null').length > 1 ? types : [];
}

/**
 * Returns the schema itself or, if it has alternatives, the first alternative that is an object or a list. If it has
 * several alternatives and all are plain values, it returns an empty schema, which accepts any value.
 */
function plainView(node: unknown, read: SchemaReader): { view: Record<string, unknown>; nullable: boolean } {
  let view = read(node) ?? {};
  let nullable = typesOf(view).includes('null');
  for (let depth = 0; depth < 5 && branchesOf(view).length > 0 && membersOf(view).length === 0; depth++) {
    const branches = branchesOf(view).map((branch) => read(branch) ?? {});
    nullable ||= branches.some((branch) => typesOf(branch).includes('null'));
    const rich = branches.find((branch) => membersOf(branch).length > 0 || typesOf(branch).includes('array'));
    const others = branches.filter((branch) => !typesOf(branch).every((type) => type === 'null'));
    const next = rich ?? (others.length === 1 ? others[0] : undefined);
    if (!next) return { view: {}, nullable };
    view = next;
  }
  return { view, nullable };
}

function viewOf(node: unknown, read: SchemaReader): Record<string, unknown> {
  return plainView(node, read).view;
}

function memberOf(view: Record<string, unknown>, name: string, read: SchemaReader): unknown {
  const found = membersOf(view).find(([key]) => key === name);
  if (found) return found[1];
  for (const branch of branchesOf(view)) {
    const member = membersOf(read(branch) ?? {}).find(([key]) => key === name);
    if (member) return member[1];
  }
  throw new Error(`the description knows no member ${name}`);
}

function segments(pointer: string): string[] {
  return pointer.split('/').slice(1);
}
