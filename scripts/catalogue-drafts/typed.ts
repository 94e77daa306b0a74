import { fileInputSchema } from '../../core/tools/file-input.ts';
import { isRecord } from '../../core/tools/pointer.ts';
import type { JsonSchema } from '../../core/tools/tool.ts';

const TYPES: Record<string, () => JsonSchema> = {
  string: () => ({ type: 'string' }),
  text: () => ({ type: 'string', minLength: 1 }),
  id: () => ({ type: 'string', minLength: 1, maxLength: 200 }),
  int: () => ({ type: 'integer' }),
  number: () => ({ type: 'number' }),
  bool: () => ({ type: 'boolean' }),
  date: () => ({ type: 'string', format: 'date' }),
  datetime: () => ({ type: 'string', format: 'date-time' }),
  email: () => ({ type: 'string', format: 'email' }),
  uri: () => ({ type: 'string', format: 'uri', maxLength: 2000 }),
  uuid: () => ({ type: 'string', format: 'uuid' }),
  map: () => ({ type: 'object', additionalProperties: { type: 'string' } }),
  object: () => ({ type: 'object', additionalProperties: { $comment: 'open: the members depend on the account' } }),
  any: () => ({ $comment: 'open: any value' }),
  file: () => fileInputSchema(''),
};
/**
 * Keywords of JSON Schema. An object with a `type` and only such keys is a schema; any other object lists members with
 * their types.
 */
const KEYWORDS =
  /^(type|items|properties|required|additionalProperties|enum|format|pattern|default|m(in|ax)(imum|Length|Items))$/;
const LIMITS: Record<string, [string, string]> = {
  string: ['minLength', 'maxLength'],
  integer: ['minimum', 'maximum'],
  number: ['minimum', 'maximum'],
  array: ['minItems', 'maxItems'],
};

/**
 * Returns the schema for a type in words: `string`, `int 1..100 =25` (range, length or number of items, and default),
 * `a|b` (one of these texts), `id*` (a list); an object whose members are types (`name!` is required); a list that
 * contains a type (a list of values of this type); or a JSON Schema.
 *
 * @throws Error for an unknown word
 */
export function typed(words: unknown): JsonSchema {
  if (Array.isArray(words)) return { type: 'array', items: typed(words[0]) };
  if (isRecord(words)) {
    const isSchema = words['type'] !== undefined && Object.keys(words).every((key) => KEYWORDS.test(key));
    return isSchema ? words : objectOf(words);
  }
  const [type = '', ...others] = String(words).split(' ');
  const schema: Record<string, unknown> = { ...plain(type) };
  for (const other of others) {
    const range = /^(-?\d*)\.\.(-?\d*)$/.exec(other);
    const [low, high] = LIMITS[String(schema['type'])] ?? [];
    if (range && low && high) {
      if (range[1]) schema[low] = Number(range[1]);
      if (range[2]) schema[high] = Number(range[2]);
    } else if (other.startsWith('=')) schema['default'] = presetOf(other.slice(1), schema);
    else throw new Error(`${String(words)}: ${other} has no meaning`);
  }
  return schema;
}

function plain(type: string): JsonSchema {
  if (type.includes('|')) return { type: 'string', enum: type.split('|') };
  if (type.endsWith('*')) return { type: 'array', items: plain(type.slice(0, -1)) };
  const schema = TYPES[type]?.();
  if (!schema) throw new Error(`there is no type ${type}`);
  return schema;
}

function objectOf(members: Record<string, unknown>): JsonSchema {
  const required = Object.keys(members).flatMap((key) => (key.endsWith('!') ? [key.slice(0, -1)] : []));
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(Object.entries(members).map(([key, type]) => [key.replace('!', ''), typed(type)])),
  };
}

function presetOf(text: string, { type }: JsonSchema): unknown {
  if (type === 'integer' || type === 'number') return Number(text);
  return type === 'boolean' ? text === 'true' : text;
}

/** Returns a value that a schema accepts, for examples. */
export function sampleOf(schema: JsonSchema): unknown {
  const { enum: values, default: preset } = schema;
  if (Array.isArray(values)) return values.find((value) => value !== null);
  if (preset !== undefined) return preset;
  switch ([schema['type']].flat().find((type) => type !== 'null')) {
    case 'integer':
    case 'number':
      return Math.max(Number(schema['minimum'] ?? 1), Math.min(42, Number(schema['maximum'] ?? 42)));
    case 'boolean':
      return true;
    case 'array':
      return [sampleOf((schema['items'] as JsonSchema | undefined) ?? { type: 'string' })];
    case 'object': {
      if (schema['format'] === 'file')
        return { file_name: 'note.txt', mime_type: 'text/plain', content_base64: 'SGVsbG8=' };
      const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : [];
      const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
      return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
    }
    default:
      return sampleText(schema);
  }
}

function sampleText({ format, minLength = 1, maxLength = 200 }: JsonSchema): string {
  const byFormat: Record<string, string> = {
    date: '2026-11-20',
    'date-time': '2026-11-20T09:00:00Z',
    email: 'ada@acme.example',
    uri: 'https://acme.example/page',
    uuid: '3f0c2f6e-8f53-4f0e-9d55-0d8f8a0b6c11',
  };
  return byFormat[String(format)] ?? 'example'.padEnd(Number(minLength), '0').slice(0, Number(maxLength));
}
