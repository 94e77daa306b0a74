import { isRecord } from '../../../tools/pointer.ts';

/** Keywords whose value is a schema, a list of schemas, or a map of schemas (JSON Schema 2020-12). */
export const SCHEMA_WORDS = new Set([
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
export const LIST_WORDS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
export const MAP_WORDS = new Set(['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties']);

/** Keywords whose values are texts for readers. These texts are cleaned and truncated; other values are not changed. */
export const SENTENCES = new Set(['$comment', 'description', 'title']);

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isAnything: Check = () => true;
const areTexts: Check = (value) => Array.isArray(value) && value.every(isText);

const TYPES = new Set<unknown>(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

/**
 * The formats that the validator supports. Valetkey's own format for file inputs is left out, because a server must not
 * use it.
 */
const FORMATS = new Set<unknown>([
  'binary',
  'byte',
  'date',
  'date-time',
  'double',
  'duration',
  'email',
  'float',
  'hostname',
  'int32',
  'int64',
  'ipv4',
  'ipv6',
  'json-pointer',
  'password',
  'regex',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'url',
  'uuid',
]);

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['$anchor', isText],
  ['$comment', isText],
  ['$ref', isText],
  ['const', isAnything],
  ['contentEncoding', isText],
  ['contentMediaType', isText],
  ['default', isAnything],
  ['dependentRequired', (value) => isRecord(value) && Object.values(value).every(areTexts)],
  ['deprecated', isFlag],
  ['description', isText],
  ['enum', (value) => Array.isArray(value) && value.length > 0],
  ['examples', Array.isArray],
  ['exclusiveMaximum', isNumber],
  ['exclusiveMinimum', isNumber],
  ['format', (value) => FORMATS.has(value)],
  ['maxContains', isCount],
  ['maxItems', isCount],
  ['maxLength', isCount],
  ['maxProperties', isCount],
  ['maximum', isNumber],
  ['minContains', isCount],
  ['minItems', isCount],
  ['minLength', isCount],
  ['minProperties', isCount],
  ['minimum', isNumber],
  ['multipleOf', (value) => isNumber(value) && (value as number) > 0],
  ['pattern', isText],
  ['readOnly', isFlag],
  ['required', areTexts],
  ['title', isText],
  [
    'type',
    (value) => (Array.isArray(value) ? value.length > 0 && value.every((one) => TYPES.has(one)) : TYPES.has(value)),
  ],
  ['uniqueItems', isFlag],
  ['writeOnly', isFlag],
]);

/** Returns why a keyword cannot stay in a schema; undefined if it can. */
export function wordProblem(word: string, value: unknown): string | undefined {
  if (SCHEMA_WORDS.has(word)) return isSchema(value) ? undefined : 'is not a schema';
  if (LIST_WORDS.has(word))
    return Array.isArray(value) && value.length > 0 && value.every(isSchema) ? undefined : 'is not a list of schemas';
  if (MAP_WORDS.has(word)) return isRecord(value) ? undefined : 'is not an object of schemas';
  const check = CHECKS.get(word);
  if (!check) return 'is not a keyword of JSON Schema';
  return check(value) ? undefined : 'has an invalid value';
}

export function isSchema(value: unknown): boolean {
  return typeof value === 'boolean' || isRecord(value);
}
