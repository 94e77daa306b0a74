import { isRecord } from '../tools/pointer.ts';
import type { Resolver } from './resolve.ts';
import { readSchema } from './schema-dialect.ts';

type Data = Record<string, unknown>;

const MAX_PARTS = 100;

/**
 * Reads a schema as one object of keywords: references are resolved, and `allOf` is merged. Subschemas are not read
 * yet.
 */
export interface SchemaReader {
  /** @returns undefined for a reference without a target, and for a node that is neither an object nor `true` */
  (node: unknown): Data | undefined;
  /**
   * Returns the object for a node. All references to it return the same object, so that circular references can be
   * detected.
   */
  target: Resolver;
}

export function createSchemaReader(resolve: Resolver): SchemaReader {
  const known = new WeakMap<object, Data>();
  const read = (node: unknown): Data | undefined => {
    const target = node === true ? {} : resolve(node);
    if (!target) return undefined;
    const view = known.get(target) ?? withParts(target);
    known.set(target, view);
    // A description next to a reference applies to this use of the schema (OpenAPI 3.1 §4.8.23).
    const beside = node !== target && isRecord(node) && typeof node['description'] === 'string';
    return beside ? { ...view, description: (node as Data)['description'] } : view;
  };
  /** Merges `allOf` breadth first with a limit, because its parts may reference each other in a circle. */
  const withParts = (target: Data): Data => {
    const { allOf, ...own } = readSchema(target);
    let view: Data = own;
    const seen = new Set<unknown>([target]);
    const queue = Array.isArray(allOf) ? [...allOf] : [];
    for (let index = 0; index < queue.length && index < MAX_PARTS; index++) {
      const part = resolve(queue[index]);
      if (!part || seen.has(part)) continue;
      seen.add(part);
      const { allOf: further, ...rest } = readSchema(part);
      if (Array.isArray(further)) queue.push(...further);
      view = combined(view, rest);
    }
    return view;
  };
  return Object.assign(read, { target: resolve });
}

/**
 * Merges two schemas that both apply: their members and required lists are joined; for other keywords the first
 * schema's value is used.
 */
function combined(first: Data, second: Data): Data {
  const view: Data = { ...second, ...first };
  for (const key of ['properties'] as const) {
    if (isRecord(first[key]) && isRecord(second[key])) view[key] = { ...second[key], ...first[key] };
  }
  const required = [first['required'], second['required']].flatMap((list) => (Array.isArray(list) ? list : []));
  if (required.length > 0) view['required'] = [...new Set(required)];
  // A schema that forbids other members would also reject the members of the other schema. So the result allows other
  // members.
  if (view['additionalProperties'] === false) delete view['additionalProperties'];
  return view;
}

/** Returns the types of a view; empty if any type is allowed. */
export function typesOf(view: Data): string[] {
  return [view['type']].flat().filter((type): type is string => typeof type === 'string');
}

/** Returns the alternatives of a view: `oneOf`, otherwise `anyOf`; empty if it has neither. */
export function branchesOf(view: Data): unknown[] {
  for (const key of ['oneOf', 'anyOf']) if (Array.isArray(view[key]) && view[key].length > 0) return view[key];
  return [];
}

/** Returns the members of an object, in the document's order. */
export function membersOf(view: Data): [string, unknown][] {
  return isRecord(view['properties']) ? Object.entries(view['properties']) : [];
}

export function requiredOf(view: Data): Set<string> {
  return new Set(Array.isArray(view['required']) ? view['required'].filter((name) => typeof name === 'string') : []);
}

/** Whether a view describes the content of a file. */
export function isBinary(view: Data): boolean {
  if (view['format'] === 'binary') return true;
  const media = view['contentMediaType'];
  return typeof media === 'string' && view['contentEncoding'] === undefined && !/^text\/|json/.test(media);
}
