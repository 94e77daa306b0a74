import { createResolver } from '../openapi-conversion/resolve.ts';
import {
  branchesOf,
  createSchemaReader,
  membersOf,
  requiredOf,
  type SchemaReader,
  typesOf,
} from '../openapi-conversion/schema-view.ts';
import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { describeConstraints } from './describe-constraints.ts';

type Data = Record<string, unknown>;

/**
 * A schema simplified for model APIs that support few keywords: no references, no `allOf`, a single list of
 * alternatives.
 */
export interface Shape {
  /** Without `null`; empty if any type is allowed. */
  types: string[];
  nullable: boolean;
  /** The description, including constraints that can only be stated in words. */
  description: string;
  /** The allowed values, without null. */
  values?: unknown[];
  /** The alternatives: at least two. */
  branches?: Shape[];
  members: Map<string, Shape>;
  required: ReadonlySet<string>;
  /** The shape of a list's items; omitted if items may be anything. */
  items?: Shape;
  /**
   * Members that the schema does not name: their shape; `stated` if the schema allows any; `unstated` if it says
   * nothing about them; `none` if it forbids them.
   */
  others: Shape | 'stated' | 'unstated' | 'none';
  /** Whether this shape, or one inside it, allows more than the schema. */
  isCut: boolean;
}

const MAX_LEVELS = 10;
/** The maximum number of subschemas that are read of one input; the largest input in the catalogue has 40. */
const MAX_NODES = 1000;

/** @param schema the input schema of a tool, which is an object */
export function readShape(schema: JsonSchema): Shape {
  return new ShapeReader(createSchemaReader(createResolver(schema))).read(schema, 0);
}

class ShapeReader {
  readonly #read: SchemaReader;
  /** Schemas that are being read; reaching one of them again means a circular reference. */
  readonly #path = new Set<unknown>();
  #nodesLeft = MAX_NODES;

  constructor(read: SchemaReader) {
    this.#read = read;
  }

  read(node: unknown, level: number): Shape {
    const view = this.#read(node);
    const target = this.#read.target(node);
    if (!view) return emptyShape({}, true);
    if (level > MAX_LEVELS || this.#nodesLeft-- <= 0 || this.#path.has(target)) return emptyShape(view, true);
    this.#path.add(target);
    try {
      return this.#shapeOf(view, level);
    } finally {
      this.#path.delete(target);
    }
  }

  #shapeOf(view: Data, level: number): Shape {
    const branches = branchesOf(view);
    if (branches.length === 0) return this.#plain(view, level);
    if (membersOf(view).length > 0) return this.#withMembersOf(branches, view, level);
    const { oneOf: _one, anyOf: _any, description: _description, ...own } = view;
    const all = branches.map((branch) => this.#branch(branch, own, level));
    const others = all.filter(({ types }) => types[0] !== 'null');
    const nullable = others.length < all.length || others.some((shape) => shape.nullable);
    const description = describeConstraints({ description: view['description'] });
    const [only] = others;
    if (only && others.length === 1) return { ...only, nullable, description: description || only.description };
    // If one alternative allows anything, the other alternatives have no effect.
    const isAny = others.some(({ types, values, branches: inner }) => types.length === 0 && !values && !inner);
    if (others.length === 0 || isAny) return { ...emptyShape({}, false), description };
    return {
      ...emptyShape(
        {},
        all.some(({ isCut }) => isCut),
      ),
      nullable,
      description,
      branches: others,
    };
  }

  /** Reads an alternative. If it has no type, it is merged with the keywords next to the list of alternatives. */
  #branch(node: unknown, own: Data, level: number): Shape {
    const shape = this.read(node, level);
    const type = own['type'];
    return shape.types.length === 0 && !shape.branches && type !== undefined && isRecord(node)
      ? this.#plain({ ...own, ...this.#read(node) }, level)
      : shape;
  }

  /**
   * Reads alternatives of an object that also has its own members. The result has the members of all alternatives,
   * none of them required.
   */
  #withMembersOf(branches: unknown[], view: Data, level: number): Shape {
    const { oneOf: _one, anyOf: _any, ...own } = view;
    const parts = branches.map((branch) => membersOf(this.#read(branch) ?? {}));
    const properties = { ...Object.fromEntries(parts.flat()), ...(own['properties'] as Data) };
    const shape = this.#plain({ ...own, properties }, level);
    return { ...shape, isCut: shape.isCut || parts.some((part) => part.length > 0) };
  }

  #plain(view: Data, level: number): Shape {
    const shape = emptyShape(view, false);
    if (shape.types.includes('array') && isRecord(view['items'])) shape.items = this.read(view['items'], level + 1);
    if (shape.types.includes('object')) this.#addMembers(shape, view, level);
    const parts = [...shape.members.values(), shape.items, typeof shape.others === 'string' ? undefined : shape.others];
    return { ...shape, isCut: parts.some((part) => part?.isCut) };
  }

  #addMembers(shape: Shape, view: Data, level: number): void {
    for (const [name, member] of membersOf(view)) shape.members.set(name, this.read(member, level + 1));
    const others = view['additionalProperties'];
    if (isRecord(others) && Object.keys(others).length > 0) shape.others = this.read(others, level + 1);
  }
}

/** Returns the shape of a schema without its subschemas. */
function emptyShape(view: Data, isCut: boolean): Shape {
  const listed = Object.hasOwn(view, 'const') ? [view['const']] : view['enum'];
  const values = Array.isArray(listed) ? distinct(listed).filter((value) => value !== null) : undefined;
  const stated = typesOf(view);
  const types = stated.length > 0 ? stated : (values ?? []).map(typeOf);
  return {
    types: types.join() === 'null' ? types : [...new Set(types)].filter((type) => type !== 'null'),
    nullable: stated.includes('null') || (stated.length === 0 && Array.isArray(listed) && listed.includes(null)),
    description: describeConstraints(view),
    ...(values && values.length > 0 && { values }),
    members: new Map(),
    required: requiredOf(view),
    others: othersOf(view['additionalProperties']),
    isCut,
  };
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function othersOf(word: unknown): Shape['others'] {
  if (word === false) return 'none';
  return word === undefined ? 'unstated' : 'stated';
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
