import { isRecord, pointerSegments } from './pointer.ts';

/**
 * The members to keep, by name. `*` matches each item of a list and each member of an object. A member without children
 * is kept as a whole.
 */
type Tree = Map<string, Tree>;

const trees = new WeakMap<readonly string[], Tree>();

/**
 * Keeps only the named members of an object, or of each item of a list.
 *
 * @param fields JSON pointers in which the segment `*` matches each item of a list, or each member of an object. Other
 * segments match no item of a list, even if they are an index
 */
export function pickFields(value: unknown, fields: readonly string[]): unknown {
  const tree = trees.get(fields) ?? treeOf(fields);
  trees.set(fields, tree);
  return Array.isArray(value) ? value.map((item) => pick(item, tree)) : pick(value, tree);
}

function treeOf(fields: readonly string[]): Tree {
  const root: Tree = new Map();
  for (const field of fields) {
    let node = root;
    for (const segment of pointerSegments(field)) {
      const next: Tree = node.get(segment) ?? new Map();
      node.set(segment, next);
      node = next;
    }
  }
  return root;
}

function pick(value: unknown, tree: Tree): unknown {
  if (tree.size === 0) return value;
  if (Array.isArray(value)) {
    const each = tree.get('*');
    return each ? value.map((item) => pick(item, each)) : [];
  }
  if (!isRecord(value)) return value;
  const each = tree.get('*');
  if (each) {
    const members = Object.entries(value).map(([key, item]) => [key, pick(item, union(each, tree.get(key)))]);
    return Object.fromEntries(members);
  }
  // Members are assigned, because building an object from entries takes three times as long.
  const kept: Record<string, unknown> = {};
  for (const [name, below] of tree) {
    if (!Object.hasOwn(value, name)) continue;
    const item = pick(value[name], below);
    if (name !== '__proto__') kept[name] = item;
    else Object.defineProperty(kept, name, { value: item, enumerable: true, configurable: true, writable: true });
  }
  return kept;
}

/** Combines two trees. A tree without children keeps everything. */
function union(one: Tree, other: Tree | undefined): Tree {
  if (other === undefined || one.size === 0) return one;
  if (other.size === 0) return other;
  const merged: Tree = new Map(one);
  for (const [name, below] of other) merged.set(name, union(below, one.get(name)));
  return merged;
}
