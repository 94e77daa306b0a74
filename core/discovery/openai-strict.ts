import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema } from '../tools/tool.ts';
import { readShape, type Shape } from './model-shape.ts';

/**
 * The OpenAI API's limits for one schema. The limits of `readShape` keep schemas below the API's limits of properties
 * and levels.
 */
const MAX = { values: 1000, characters: 120_000, longListValues: 250, longListCharacters: 15_000 };

/**
 * The input cannot be expressed in a strict schema, for example because it has members of any name, values of any type,
 * circular references, or too many values.
 */
class InexpressibleError extends Error {}

/**
 * Returns the input schema of a tool for a strict function call: every object is closed, and every member is required.
 * An optional member may be null, and a call then treats it as omitted.
 *
 * @returns undefined if the input cannot be expressed in a strict schema
 */
export function strictSchema(schema: JsonSchema): JsonSchema | undefined {
  const shape = readShape(schema);
  // A tool only accepts the inputs that it names, even if its schema does not say so.
  if (shape.others === 'unstated') shape.others = 'none';
  try {
    return new StrictWriter().write(shape);
  } catch (error) {
    if (error instanceof InexpressibleError) return undefined;
    throw error;
  }
}

class StrictWriter {
  #values = 0;
  #characters = 0;

  write(shape: Shape, isOptional = false): JsonSchema {
    if (shape.isCut) throw new InexpressibleError();
    const parts = shape.branches?.map((branch) => this.write(branch)) ?? this.#alternativesOf(shape);
    const all = parts.flatMap((part) => (part['anyOf'] as JsonSchema[] | undefined) ?? [part]);
    const written = withNull(all, isOptional || shape.nullable);
    return shape.description === '' ? written : { ...written, description: shape.description };
  }

  #alternativesOf(shape: Shape): JsonSchema[] {
    const { types, values } = shape;
    if (types.length === 0) throw new InexpressibleError();
    return types.map((type) => (values ? this.#choice(type, values) : this.#open(type, shape)));
  }

  #choice(type: string, values: readonly unknown[]): JsonSchema {
    const ofType = values.filter((value) => fits(value, type));
    if (ofType.length === 0 || type === 'array' || type === 'object') throw new InexpressibleError();
    const characters = ofType.reduce<number>((sum, value) => sum + String(value).length, 0);
    this.#count(ofType.length, characters);
    if (ofType.length > MAX.longListValues && characters > MAX.longListCharacters) throw new InexpressibleError();
    return { type, enum: ofType };
  }

  #open(type: string, shape: Shape): JsonSchema {
    if (type === 'object') return this.#object(shape);
    if (type !== 'array') return { type };
    if (!shape.items) throw new InexpressibleError();
    return { type, items: this.write(shape.items) };
  }

  #object({ members, required, others }: Shape): JsonSchema {
    const isClosed = others === 'none' || (others === 'unstated' && members.size > 0);
    if (!isClosed) throw new InexpressibleError();
    const properties = [...members].map(([name, member]) => {
      this.#count(0, name.length);
      return [name, this.write(member, !required.has(name))] as const;
    });
    return {
      type: 'object',
      properties: Object.fromEntries(properties),
      required: [...members.keys()],
      additionalProperties: false,
    };
  }

  #count(values: number, characters: number): void {
    this.#values += values;
    this.#characters += characters;
    if (this.#values > MAX.values || this.#characters > MAX.characters) throw new InexpressibleError();
  }
}

function withNull(all: readonly JsonSchema[], nullable: boolean): JsonSchema {
  if (haveEqualBeginnings(all)) throw new InexpressibleError();
  const [only] = all;
  if (only === undefined || all.length > 1) return { anyOf: nullable ? [...all, { type: 'null' }] : [...all] };
  const { type, enum: values } = only;
  if (!nullable || type === 'null') return only;
  return { ...only, type: [type, 'null'].flat(), ...(Array.isArray(values) && { enum: [...values, null] }) };
}

/**
 * Whether two alternatives are objects whose first members have the same name and may have the same value. The API
 * rejects such alternatives.
 */
function haveEqualBeginnings(all: readonly JsonSchema[]): boolean {
  const taken = new Map<string, unknown[] | undefined>();
  for (const { properties } of all) {
    const [name, first] = (isRecord(properties) && Object.entries(properties)[0]) || [];
    if (name === undefined) continue;
    const values = (first as { enum?: unknown[] }).enum;
    const before = taken.get(name);
    if (taken.has(name) && (!values || !before || values.some((value) => before.includes(value)))) return true;
    taken.set(name, values && [...(before ?? []), ...values]);
  }
  return false;
}

function fits(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
