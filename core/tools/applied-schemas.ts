import { atPointer, isRecord, percentDecoded } from './pointer.ts';

type Data = Record<string, unknown>;

/** The schemas that apply to one value. */
export type Applied = readonly Readonly<Data>[];

const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE = ['if', 'then', 'else'];

/**
 * Finds the schemas that can apply to a value: a schema and, repeatedly, those in its `allOf`, `anyOf`, `oneOf`,
 * conditions and `dependentSchemas`, and the target of its `$ref` (only if this is a JSON pointer).
 */
export class SchemaWalk {
  readonly #root: unknown;
  readonly #known = new Map<Data, Applied>();

  /** @param root the schema that references are relative to */
  constructor(root: unknown) {
    this.#root = root;
  }

  /** Returns the given schemas and those that can apply to the same value because of them. */
  applied(schemas: readonly unknown[]): Applied {
    return [...new Set(schemas.flatMap((schema) => (isRecord(schema) ? this.#expand(schema) : [])))];
  }

  #expand(schema: Data): Applied {
    const known = this.#known.get(schema);
    if (known) return known;
    const found = new Set<Data>();
    const queue: unknown[] = [schema];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (!isRecord(next) || found.has(next)) continue;
      found.add(next);
      const { $ref: reference, dependentSchemas } = next;
      if (typeof reference === 'string' && /^#(\/|$)/.test(reference)) {
        queue.push(atPointer(this.#root, percentDecoded(reference.slice(1))));
      }
      for (const word of SAME_VALUE_LISTS) if (Array.isArray(next[word])) queue.push(...next[word]);
      for (const word of SAME_VALUE) if (isRecord(next[word])) queue.push(next[word]);
      if (isRecord(dependentSchemas)) queue.push(...Object.values(dependentSchemas));
    }
    const applied = [...found];
    this.#known.set(schema, applied);
    return applied;
  }
}

/** Returns the schemas of a member that is declared by name. */
export function membersNamed(applied: Applied, key: string): unknown[] {
  return applied.flatMap(({ properties }) =>
    isRecord(properties) && Object.hasOwn(properties, key) ? [properties[key]] : [],
  );
}

/** Returns the schemas of members that are not declared by name. */
export function otherMembers(applied: Applied): unknown[] {
  return applied.flatMap(({ additionalProperties, patternProperties }) => [
    additionalProperties,
    ...Object.values(isRecord(patternProperties) ? patternProperties : {}),
  ]);
}

/** Returns the schemas of the item at an index. */
export function itemsAt(applied: Applied, index: number): unknown[] {
  return applied.flatMap(({ prefixItems, items, contains }) => {
    const own = Array.isArray(prefixItems) ? prefixItems[index] : undefined;
    return [own ?? items, contains];
  });
}
