import { isRecord } from '../tools/pointer.ts';
import type { JsonSchema } from '../tools/tool.ts';

type Properties = Readonly<Record<string, unknown>>;

/** Keywords besides `properties` whose subschemas can describe the same inputs. */
const BESIDE = [
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'],
  ...['dependentSchemas', 'dependentRequired', 'dependencies'],
];

/** Returns the schemas of the inputs, by name. */
export function propertiesOf(schema: JsonSchema): Properties {
  return isRecord(schema['properties']) ? schema['properties'] : {};
}

/** Returns the names of the required inputs. */
export function requiredOf(schema: JsonSchema): string[] {
  return Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
}

/** Whether an input is a list. An overlay then restricts the values of its items. */
export function isListInput(input: unknown): input is JsonSchema {
  return isRecord(input) && input['type'] === 'array' && (isRecord(input['items']) || input['items'] === undefined);
}

/**
 * Returns a schema in which some inputs accept only some values. These inputs become required: if one is omitted, the
 * API may use a value that is not allowed. An input with an allowed default stays optional if Valetkey fills in
 * defaults.
 *
 * @param allowed the allowed values by the name of the input; for a list, the allowed values of its items
 * @param fillsDefaults whether Valetkey fills in defaults, so that an omitted input has its default
 */
export function limitingInputs(
  schema: JsonSchema,
  allowed: Readonly<Record<string, readonly unknown[]>>,
  fillsDefaults: boolean,
): JsonSchema {
  if (Object.keys(allowed).length === 0) return schema;
  const properties: Record<string, unknown> = { ...propertiesOf(schema) };
  const required = new Set(requiredOf(schema));
  for (const [name, values] of Object.entries(allowed)) {
    const input = limitInput(properties[name], values);
    properties[name] = input;
    if (!fillsDefaults || !Object.hasOwn(input, 'default')) required.add(name);
  }
  return { ...schema, properties, required: [...required] };
}

function limitInput(input: unknown, values: readonly unknown[]): Record<string, unknown> {
  const { default: preset, ...rest } = isRecord(input) ? input : ({} as Record<string, unknown>);
  const defaults = [preset].flat();
  const keepsDefault = preset !== undefined && defaults.length > 0 && defaults.every((value) => isAmong(values, value));
  const limited = isListInput(input) ? limitList(rest, values) : { ...rest, enum: [...values] };
  return keepsDefault ? { ...limited, default: preset } : limited;
}

/** Limits the items of a list input. Also rejects an empty list, because for many APIs it means all values. */
function limitList(input: Record<string, unknown>, values: readonly unknown[]): Record<string, unknown> {
  const { items, minItems } = input;
  return {
    ...input,
    minItems: Math.max(1, Number(minItems ?? 0)),
    items: { ...(isRecord(items) ? items : {}), enum: [...values] },
  };
}

/** Whether a value is one of some values, compared as JSON. */
export function isAmong(values: readonly unknown[], value: unknown): boolean {
  const text = JSON.stringify(value);
  return values.some((other) => JSON.stringify(other) === text);
}

/**
 * Returns a schema without some inputs. Keywords in `BESIDE` that mention such an input are omitted too. Callers then
 * see a less strict schema, but their inputs are still validated against the complete schema.
 */
export function withoutInputs(schema: JsonSchema, names: readonly string[]): JsonSchema {
  if (names.length === 0) return schema;
  const without = (entries: [string, unknown][]) => entries.filter(([key]) => !names.includes(key));
  const mentions = (value: unknown) => {
    const text = JSON.stringify(value);
    return names.some((name) => text.includes(JSON.stringify(name)));
  };
  const kept = Object.entries(schema).filter(([keyword, value]) => !(BESIDE.includes(keyword) && mentions(value)));
  const shown: Record<string, unknown> = {
    ...Object.fromEntries(kept),
    properties: Object.fromEntries(without(Object.entries(propertiesOf(schema)))),
  };
  if (schema['required'] !== undefined) {
    shown['required'] = requiredOf(schema).filter((name) => !names.includes(name));
  }
  return shown;
}
