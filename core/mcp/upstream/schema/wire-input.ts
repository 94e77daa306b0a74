import { atPointer, isRecord } from '../../../tools/pointer.ts';
import type { JsonSchema } from '../../../tools/tool.ts';
import type { Names } from './rename.ts';

type Data = Record<string, unknown>;

/** The schemas that apply to one value. */
type Applied = readonly Data[];

const SAME_VALUE_LISTS = ['allOf', 'anyOf', 'oneOf'];
const SAME_VALUE = ['if', 'then', 'else'];

/**
 * An input with the server's own names of properties. A member is renamed where the schema describes it under our name; members that
 * nobody described keep the names that they came with.
 *
 * @param schema as it is stored
 * @param names the server's names by ours
 */
export function toWireInput(input: Readonly<Data>, schema: JsonSchema, names: Names): Data {
  if (Object.keys(names).length === 0) return { ...input };
  return new WireNames(schema as Data, names).object(input, [schema as Data]);
}

class WireNames {
  readonly #root: Data;
  readonly #names: Names;
  readonly #applied = new Map<Data, Applied>();

  constructor(root: Data, names: Names) {
    this.#root = root;
    this.#names = names;
  }

  object(value: Readonly<Data>, schemas: readonly unknown[]): Data {
    const applied = this.#expand(schemas);
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const described = applied.flatMap(({ properties }) =>
          isRecord(properties) && Object.hasOwn(properties, key) ? [properties[key]] : [],
        );
        const isOurs = described.length > 0 && Object.hasOwn(this.#names, key);
        const below = described.length > 0 ? described : applied.flatMap(others);
        return [isOurs ? (this.#names[key] as string) : key, this.#value(member, below)];
      }),
    );
  }

  #value(value: unknown, schemas: readonly unknown[]): unknown {
    if (schemas.length === 0) return value;
    if (Array.isArray(value)) {
      const applied = this.#expand(schemas);
      return value.map((item, index) =>
        this.#value(
          item,
          applied.flatMap((schema) => itemsAt(schema, index)),
        ),
      );
    }
    return isRecord(value) ? this.object(value, schemas) : value;
  }

  #expand(schemas: readonly unknown[]): Applied {
    return [...new Set(schemas.flatMap((schema) => (isRecord(schema) ? this.#expandOne(schema) : [])))];
  }

  /** A schema with all that it applies to the same value. */
  #expandOne(schema: Data): Applied {
    const known = this.#applied.get(schema);
    if (known) return known;
    const found = new Set<Data>();
    const queue: unknown[] = [schema];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (!isRecord(next) || found.has(next)) continue;
      found.add(next);
      const { $ref: reference, dependentSchemas } = next;
      if (typeof reference === 'string' && /^#(\/|$)/.test(reference)) {
        queue.push(atPointer(this.#root, decodeURIComponent(reference.slice(1))));
      }
      for (const word of SAME_VALUE_LISTS) if (Array.isArray(next[word])) queue.push(...next[word]);
      for (const word of SAME_VALUE) if (isRecord(next[word])) queue.push(next[word]);
      if (isRecord(dependentSchemas)) queue.push(...Object.values(dependentSchemas));
    }
    const applied = [...found];
    this.#applied.set(schema, applied);
    return applied;
  }
}

/** The schemas of members that have none of their own name. */
function others({ additionalProperties, patternProperties }: Data): unknown[] {
  return [additionalProperties, ...Object.values(isRecord(patternProperties) ? patternProperties : {})];
}

function itemsAt({ prefixItems, items, contains }: Data, index: number): unknown[] {
  const own = Array.isArray(prefixItems) ? prefixItems[index] : undefined;
  return [own ?? items, contains];
}
