import { isRecord } from '../tools/pointer.ts';

type Data = Record<string, unknown>;

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);
const ALIASES: Record<string, string> = {
  int: 'integer',
  int32: 'integer',
  int64: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  str: 'string',
  text: 'string',
  date: 'string',
  datetime: 'string',
  uuid: 'string',
  file: 'string',
  list: 'array',
  map: 'object',
};

/**
 * Converts one schema object of OpenAPI 3.0 or later to JSON Schema 2020-12. `nullable` becomes a type, an alternative
 * or an enum value. A boolean `exclusiveMinimum` or `exclusiveMaximum` becomes a number, and unknown types are removed
 * or translated. Subschemas are not converted; each is converted when it is read.
 */
export function readSchema(schema: Data): Data {
  const { nullable, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  const read: Data = { ...rest };
  const types = typesOf(schema);
  if (nullable === true && types.length > 0) types.push('null');
  if (types.length > 0) read['type'] = types.length === 1 ? types[0] : [...new Set(types)];
  else delete read['type'];
  if (nullable === true) {
    if (Array.isArray(schema['enum']) && !schema['enum'].includes(null)) read['enum'] = [...schema['enum'], null];
    for (const key of ['oneOf', 'anyOf']) {
      if (types.length === 0 && Array.isArray(schema[key])) read[key] = [...schema[key], { type: 'null' }];
    }
  }
  Object.assign(read, bound(exclusiveMinimum, 'exclusiveMinimum', schema, 'minimum', read));
  Object.assign(read, bound(exclusiveMaximum, 'exclusiveMaximum', schema, 'maximum', read));
  return read;
}

function bound(value: unknown, key: string, schema: Data, plain: string, read: Data): Data {
  if (typeof value === 'number') return { [key]: value };
  if (value !== true || typeof schema[plain] !== 'number') return {};
  delete read[plain];
  return { [key]: schema[plain] };
}

/** Returns the types that a schema declares; if it declares none, those that its keywords imply. */
function typesOf(schema: Data): string[] {
  const stated = [schema['type']].flat().flatMap((type) => {
    const name = String(type).toLowerCase();
    return TYPES.has(name) ? [name] : (ALIASES[name] ?? []);
  });
  if (stated.length > 0) return [...new Set(stated)];
  if (isRecord(schema['properties']) || isRecord(schema['additionalProperties'])) return ['object'];
  if (isRecord(schema['items'])) return ['array'];
  return [];
}
