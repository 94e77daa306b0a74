import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { plainText } from './plain-text.ts';
import { branchesOf, membersOf, requiredOf, type SchemaReader, typesOf } from './schema-view.ts';

type Data = Record<string, unknown>;

/** The property names that every model API accepts, at every level. */
export const LEGAL_KEY = /^[a-zA-Z0-9_.-]{1,64}$/;

/** The maximum that is kept of a schema. Less detailed variants are tried if the schema is too large. */
export interface Detail {
  /** Levels of objects and lists below the input. */
  depth: number;
  /** Characters of a description. */
  description: number;
  /** Values of an enum; an enum with more values is dropped. */
  values: number;
  /** Alternatives; a list with more alternatives accepts any value. */
  branches: number;
}

/** The levels of detail, from everything that a model can use to the minimum that still allows a call. */
export const DETAILS: readonly Detail[] = [
  { depth: 5, description: 400, values: 200, branches: 12 },
  { depth: 4, description: 200, values: 100, branches: 8 },
  { depth: 3, description: 160, values: 60, branches: 6 },
  { depth: 2, description: 120, values: 40, branches: 4 },
  { depth: 1, description: 80, values: 20, branches: 0 },
];

/** `input`: the data that a caller sends. `output`: the data of a response, which is not validated. */
export type Direction = 'input' | 'output';

/** The schema has more subschemas than allowed. */
export class TooLargeError extends Error {}

/**
 * Converts a schema of an OpenAPI document to a self-contained JSON Schema: no references, no cycles, a limited depth,
 * valid names at every level, only keywords that every model API accepts. Parts that cannot be expressed accept any
 * value, or any value of their type. Alternatives become `anyOf`. Patterns and defaults are moved to the description:
 * untrusted expressions are never executed, and the API fills in its own defaults.
 */
export class SchemaWriter {
  readonly #read: SchemaReader;
  readonly #direction: Direction;
  readonly #detail: Detail;
  /** Objects of the document that are being converted; reaching one of them again means a circular reference. */
  readonly #path = new Set<unknown>();
  #nodesLeft: number;
  /** Whether parts of the schema were left out. */
  cut = false;
  /** Names of members that were dropped because `LEGAL_KEY` does not allow them. */
  readonly dropped = new Set<string>();

  constructor(read: SchemaReader, direction: Direction, detail: Detail, maxNodes: number) {
    this.#read = read;
    this.#direction = direction;
    this.#detail = detail;
    this.#nodesLeft = maxNodes;
  }

  /** Converts one schema. @throws TooLargeError if the maximum number of subschemas is exceeded */
  write(node: unknown, depth = 0, description?: unknown): JsonSchema {
    if (this.#nodesLeft-- <= 0) throw new TooLargeError();
    const view = this.#read(node);
    if (!view) return this.#described({}, description);
    const target = this.#read.target(node);
    if (target && this.#path.has(target)) return this.#open(view, description);
    this.#path.add(target);
    try {
      return this.#writeView(view, depth, description ?? view['description']);
    } finally {
      this.#path.delete(target);
    }
  }

  #writeView(view: Data, depth: number, description: unknown): JsonSchema {
    const branches = branchesOf(view);
    if (branches.length > 0) {
      if (membersOf(view).length > 0)
        return this.#writeView(this.#withBranchMembers(view, branches), depth, description);
      return this.#union(view, branches, depth, description);
    }
    const values = this.#values(view);
    if (values) return this.#described({ ...this.#typed(typesOf(view), values), enum: values }, description);
    const types = typesOf(view);
    if (types.some((type) => type === 'object' || type === 'array') && depth >= this.#detail.depth) {
      return this.#open(view, description);
    }
    const schema: Data = types.length === 0 ? {} : this.#typed(types);
    if (types.includes('string')) Object.assign(schema, this.#text(view));
    if (types.includes('number') || types.includes('integer')) Object.assign(schema, this.#number(view));
    if (types.includes('array')) Object.assign(schema, this.#list(view, depth));
    if (types.includes('object')) Object.assign(schema, this.#object(view, depth));
    return this.#described(schema, description, view);
  }

  /**
   * Converts an object with alternatives and its own members: the result has the members of all alternatives, none of
   * them required.
   */
  #withBranchMembers(view: Data, branches: unknown[]): Data {
    const { oneOf: _one, anyOf: _any, ...rest } = view;
    const parts = branches.map((branch) => membersOf(this.#read(branch) ?? {}));
    if (parts.some((part) => part.length > 0)) this.cut = true;
    return {
      ...rest,
      properties: { ...Object.fromEntries(parts.flat()), ...(rest['properties'] as Data) },
      additionalProperties: undefined,
    };
  }

  #union(view: Data, branches: unknown[], depth: number, description: unknown): JsonSchema {
    const nullable =
      branches.some((branch) => typesOf(this.#read(branch) ?? {}).join() === 'null') || typesOf(view).includes('null');
    const others = branches.filter((branch) => typesOf(this.#read(branch) ?? {}).join() !== 'null');
    if (others.length > this.#detail.branches && others.length > 1) return this.#open({}, description);
    const written = others.map((branch) => this.write(branch, depth));
    const [only] = written;
    if (only && written.length === 1) {
      return this.#described(nullable ? withNull(only) : only, description ?? only['description']);
    }
    // If one alternative allows anything, the other alternatives have no effect.
    if (written.some((schema) => schema['type'] === undefined && schema['enum'] === undefined && !schema['anyOf'])) {
      return this.#described({}, description);
    }
    const all = nullable ? [...written, { type: 'null' }] : written;
    return this.#described({ anyOf: distinct(all) }, description);
  }

  /**
   * Returns the allowed values, converted to the type of the schema. Returns undefined for a response, and for a schema
   * that lists no values, only objects and lists, or more values than the level of detail keeps.
   */
  #values(view: Data): unknown[] | undefined {
    const listed = Object.hasOwn(view, 'const') ? [view['const']] : view['enum'];
    if (this.#direction === 'output' || !Array.isArray(listed)) return undefined;
    const types = typesOf(view);
    const values = [
      ...new Set(
        listed.filter((value) => typeof value !== 'object' || value === null).map((value) => inType(value, types)),
      ),
    ];
    if (values.length === 0) return undefined;
    if (values.length <= this.#detail.values) return values;
    this.cut = true;
    return undefined;
  }

  /**
   * Returns the keyword `type`. For a response, `null` is added, because vendors often forget to declare it. For an
   * enum, the keyword is omitted if one of its values has none of the types.
   */
  #typed(types: string[], values?: unknown[]): Data {
    if (values) return values.every((value) => types.some((type) => fits(value, type))) ? { type: single(types) } : {};
    return { type: single(this.#direction === 'output' ? [...types, 'null'] : types) };
  }

  #text(view: Data): Data {
    if (this.#direction === 'output') return {};
    const format = KNOWN_FORMATS.has(String(view['format'])) ? { format: view['format'] } : {};
    return { ...counts(view, 'minLength', 'maxLength'), ...format };
  }

  #number(view: Data): Data {
    if (this.#direction === 'output') return {};
    const kept = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].filter((key) =>
      Number.isFinite(view[key]),
    );
    const low = Math.max(
      ...['minimum', 'exclusiveMinimum'].map((key) => Number(view[key] ?? Number.NEGATIVE_INFINITY)),
    );
    const high = Math.min(
      ...['maximum', 'exclusiveMaximum'].map((key) => Number(view[key] ?? Number.POSITIVE_INFINITY)),
    );
    return low > high ? {} : Object.fromEntries(kept.map((key) => [key, view[key]]));
  }

  #list(view: Data, depth: number): Data {
    const items = isRecord(view['items']) ? this.write(view['items'], depth + 1) : {};
    return { items, ...(this.#direction === 'input' ? counts(view, 'minItems', 'maxItems') : {}) };
  }

  #object(view: Data, depth: number): Data {
    const members = membersOf(view).filter(([name, member]) => this.#isOffered(name, member, requiredOf(view)));
    const legal = members.filter(([name]) => this.#isLegal(name));
    const properties = Object.fromEntries(legal.map(([name, member]) => [name, this.write(member, depth + 1)]));
    const schema: Data = legal.length > 0 ? { properties } : {};
    if (this.#direction === 'output') return schema;
    const required = [...requiredOf(view)].filter((name) => Object.hasOwn(properties, name));
    if (required.length > 0) schema['required'] = required;
    const others = view['additionalProperties'];
    if (isRecord(others) && Object.keys(others).length > 0)
      schema['additionalProperties'] = this.write(others, depth + 1);
    else if (others === false && legal.length > 0 && legal.length === membersOf(view).length)
      schema['additionalProperties'] = false;
    return schema;
  }

  #isLegal(name: string): boolean {
    const legal = LEGAL_KEY.test(name) && name !== '__proto__';
    if (!legal) this.dropped.add(name);
    return legal;
  }

  #isOffered(name: string, member: unknown, required: ReadonlySet<string>): boolean {
    return isOffered(this.#read(member), this.#direction, required.has(name));
  }

  /** Returns a schema that keeps only the type, for a schema that is not converted further. */
  #open(view: Data, description: unknown): JsonSchema {
    this.cut = true;
    const types = typesOf(view);
    const list = types.includes('array') ? { items: {} } : {};
    return this.#described(types.length === 0 ? {} : { ...this.#typed(types), ...list }, description);
  }

  #described(schema: Data, description: unknown, view: Data = {}): JsonSchema {
    const { description: _, ...rest } = schema;
    const text = plainText(description, this.#detail.description);
    const words = [text, ...(this.#direction === 'input' ? remarks(view) : [])].filter((part) => part !== '').join(' ');
    return words === '' ? rest : { ...rest, description: words };
  }
}

/**
 * Whether a member is part of the schema for this direction. Read-only members and deprecated optional members are not
 * inputs; write-only members are not outputs.
 */
export function isOffered(view: Data | undefined, direction: Direction, required: boolean): boolean {
  if (!view) return true;
  if (direction === 'output') return view['writeOnly'] !== true;
  return view['readOnly'] !== true && (view['deprecated'] !== true || required);
}

const KNOWN_FORMATS = new Set(['date', 'uuid', 'ipv4', 'ipv6']);

/**
 * Describes the keywords `default`, `pattern` and `format` in sentences, because the conversion removes them. Defaults
 * and patterns of more than 60 characters are omitted.
 */
function remarks(view: Data): string[] {
  const sentences: string[] = [];
  const { default: value, pattern, format } = view;
  if (['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= 60)
    sentences.push(`Default: ${plainText(String(value), 60)}.`);
  if (typeof pattern === 'string' && pattern.length <= 60) sentences.push(`Pattern: ${plainText(pattern, 60)}`);
  if (typeof format === 'string' && /^(date-time|uri|email|byte|duration|time)$/.test(format))
    sentences.push(`Format: ${format}.`);
  return sentences;
}

function counts(view: Data, low: string, high: string): Data {
  const kept = [low, high].filter((key) => Number.isSafeInteger(view[key]) && Number(view[key]) >= 0);
  const bounds = Object.fromEntries(kept.map((key) => [key, Number(view[key])]));
  return (bounds[low] ?? 0) > (bounds[high] ?? Number.POSITIVE_INFINITY) ? {} : bounds;
}

/** Converts a value to the type of its schema, because documents contain numbers as texts and texts as numbers. */
function inType(value: unknown, types: string[]): unknown {
  if (types.length === 0 || value === null || types.some((type) => fits(value, type))) return value;
  if (types.includes('string')) return String(value);
  const number = Number(value);
  if (
    typeof value === 'string' &&
    value !== '' &&
    Number.isFinite(number) &&
    (types.includes('number') || types.includes('integer'))
  )
    return number;
  if (types.includes('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function fits(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

function single(types: string[]): string | string[] {
  const distinctTypes = [...new Set(types)];
  return distinctTypes.length === 1 ? (distinctTypes[0] as string) : distinctTypes;
}

function withNull(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (Array.isArray(schema['anyOf'])) return { ...schema, anyOf: distinct([...schema['anyOf'], { type: 'null' }]) };
  const values = Array.isArray(schema['enum']) ? { enum: [...new Set([...schema['enum'], null])] } : {};
  return type === undefined
    ? { ...schema, ...values }
    : { ...schema, ...values, type: single([type as string | string[], 'null'].flat()) };
}

function distinct(schemas: JsonSchema[]): JsonSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}
