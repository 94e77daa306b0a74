import { atPointer, isRecord, percentDecoded } from '../../../tools/pointer.ts';
import type { Changes } from './changes.ts';

type Data = Record<string, unknown>;

const MAX_PARTS = 100;
/**
 * Keywords that model APIs reject at the top of an input. They are removed after the members of their schemas were
 * merged.
 */
const REFUSED = ['$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', 'const', 'enum'];

/**
 * Makes the top of an input schema a plain object, as model APIs require. The members that references, `allOf`,
 * alternatives (`anyOf`, `oneOf`) and conditions declare are merged into `properties`. Alternatives make a member
 * required only if each of them requires it. All other rules of these keywords, such as `not` or the differences
 * between alternatives, are only checked by the server.
 *
 * @param root cleaned, with resolvable references
 * @returns undefined if `root` does not describe an object
 */
export function flattenTop(root: Readonly<Data>, path: readonly string[], changes: Changes): Data | undefined {
  if (!REFUSED.some((word) => Object.hasOwn(root, word))) return withObjectType(root);
  const merged = new TopMerger(root).merge(root);
  if (!merged) return undefined;
  for (const word of REFUSED.filter((name) => Object.hasOwn(root, name))) {
    changes.add([...path, word], 'was merged into properties');
  }
  const kept = Object.entries(root).filter(([word]) => !REFUSED.includes(word));
  return withObjectType({ ...Object.fromEntries(kept), ...merged });
}

function withObjectType(node: Readonly<Data>): Data | undefined {
  const types = [node['type'] ?? 'object'].flat();
  return types.includes('object') ? { ...node, type: 'object' } : undefined;
}

/** The combined members of several schemas of one object. */
interface View {
  properties: Map<string, unknown[]>;
  required: Set<string>;
  /** Whether other members are rejected. */
  closed: boolean;
  description: string | undefined;
}

class TopMerger {
  readonly #root: Data;
  #partsLeft = MAX_PARTS;

  constructor(root: Readonly<Data>) {
    this.#root = root;
  }

  merge(node: Readonly<Data>): Data | undefined {
    const view = this.#view(node, new Set());
    if (!view) return undefined;
    const { properties, required, closed, description } = view;
    const written = [...properties].map(([name, schemas]) => [
      name,
      schemas.length === 1 ? schemas[0] : { anyOf: schemas },
    ]);
    return {
      type: 'object',
      ...(description !== undefined && { description }),
      ...(written.length > 0 && { properties: Object.fromEntries(written) }),
      ...(required.size > 0 && { required: [...required].filter((name) => properties.has(name)) }),
      ...(Object.hasOwn(node, 'additionalProperties') && !closed && { additionalProperties: openOf(node) }),
      ...(closed && { additionalProperties: false }),
    };
  }

  /** Combines a schema with its parts. @returns undefined if the schema does not describe an object */
  #view(given: unknown, onWay: ReadonlySet<unknown>): View | undefined {
    if (given === true) return emptyView();
    if (!isRecord(given)) return undefined;
    // A schema that references itself adds nothing more. Beyond the maximum number of parts, further parts are ignored.
    if (onWay.has(given) || this.#partsLeft-- <= 0) return emptyView();
    const node = given;
    if (node['type'] !== undefined && ![node['type']].flat().includes('object')) return undefined;
    const way = new Set(onWay).add(node);
    const view = ownView(node);
    const all = [...list(node['allOf']), ...(typeof node['$ref'] === 'string' ? [this.#target(node['$ref'])] : [])];
    for (const part of all) {
      const other = this.#view(part, way);
      if (!other) return undefined;
      join(view, other, true);
    }
    for (const word of ['oneOf', 'anyOf']) {
      const branches = list(node[word]).flatMap((branch) => this.#view(branch, way) ?? []);
      if (branches.length > 0) join(view, anyOf(branches), true);
    }
    const sometimes = [
      node['then'],
      node['else'],
      ...Object.values(isRecord(node['dependentSchemas']) ? node['dependentSchemas'] : {}),
    ];
    for (const part of sometimes) join(view, this.#view(part, way), false);
    return view;
  }

  #target(reference: string): unknown {
    if (!reference.startsWith('#/') && reference !== '#') return undefined;
    return atPointer(this.#root, percentDecoded(reference.slice(1)));
  }
}

function emptyView(): View {
  return { properties: new Map(), required: new Set(), closed: false, description: undefined };
}

function ownView(node: Readonly<Data>): View {
  const own = isRecord(node['properties']) ? node['properties'] : {};
  return {
    properties: new Map(Object.entries(own).map(([name, schema]) => [name, [schema]])),
    required: new Set(list(node['required']) as string[]),
    closed: node['additionalProperties'] === false,
    description: typeof node['description'] === 'string' ? node['description'] : undefined,
  };
}

/** Adds the members of another schema; `always` is true if that schema applies to every value. */
function join(view: View, other: View | undefined, always: boolean): void {
  if (!other) return;
  for (const [name, schemas] of other.properties) {
    // The object's own schema for a member comes first; further schemas for it are alternatives.
    const known = view.properties.get(name);
    view.properties.set(name, known ? distinct([...known, ...schemas]) : schemas);
  }
  if (always) for (const name of other.required) view.required.add(name);
  view.description ??= always ? other.description : undefined;
  // The merged schema is closed only if both are, because a closed schema would reject members of the other one.
  view.closed &&= other.closed;
}

/** Returns the members of all alternatives; a member is required if all alternatives require it. */
function anyOf(branches: readonly View[]): View {
  const [first, ...others] = branches;
  const view: View = {
    properties: new Map(),
    required: new Set(first?.required),
    closed: true,
    description: undefined,
  };
  for (const branch of branches) join(view, { ...branch, required: new Set() }, true);
  for (const { required } of others)
    for (const name of view.required) if (!required.has(name)) view.required.delete(name);
  return { ...view, description: undefined, closed: branches.every(({ closed }) => closed) };
}

function openOf(node: Readonly<Data>): unknown {
  const others = node['additionalProperties'];
  return others === false ? true : others;
}

function distinct(schemas: readonly unknown[]): unknown[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
