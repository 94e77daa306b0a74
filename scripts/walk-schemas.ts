import type { Json, JsonObject } from './openapi-document.ts';
import { arrayAt, isObject, objectAt } from './openapi-document.ts';

export interface SchemaPlace {
  readonly schema: JsonObject;
  /** Its location as a JSON pointer (RFC 6901). */
  readonly pointer: string;
}

const SCHEMA_MAPS = ['properties', 'patternProperties', '$defs', 'dependentSchemas'];
const SCHEMA_LISTS = ['oneOf', 'anyOf', 'allOf', 'prefixItems'];
const SCHEMAS = ['items', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else', 'contains'];

/** Yields the schemas directly inside a schema, without following references. */
export function* subschemas({ schema, pointer }: SchemaPlace): Generator<SchemaPlace> {
  for (const keyword of SCHEMA_MAPS) {
    for (const [name, value] of Object.entries(objectAt(schema, keyword))) {
      if (isObject(value)) yield { schema: value, pointer: `${pointer}/${keyword}/${escapePointer(name)}` };
    }
  }
  for (const keyword of SCHEMA_LISTS) {
    for (const [index, value] of arrayAt(schema, keyword).entries()) {
      if (isObject(value)) yield { schema: value, pointer: `${pointer}/${keyword}/${index}` };
    }
  }
  for (const keyword of SCHEMAS) {
    const value = schema[keyword];
    if (isObject(value)) yield { schema: value, pointer: `${pointer}/${keyword}` };
  }
}

/** Yields a schema and everything inside it. */
function* walkSchema(place: SchemaPlace): Generator<SchemaPlace> {
  yield place;
  for (const inner of subschemas(place)) yield* walkSchema(inner);
}

/** Yields every schema of a document once, at any depth: in components, parameters, headers, bodies and events. */
export function* walkSchemas(document: JsonObject): Generator<SchemaPlace> {
  const { schemas, examples: _examples, ...components } = objectAt(document, 'components');
  for (const [name, schema] of Object.entries(isObject(schemas) ? schemas : {})) {
    if (isObject(schema)) yield* walkSchema({ schema, pointer: `/components/schemas/${escapePointer(name)}` });
  }
  yield* schemasUnder(components, '/components');
  yield* schemasUnder(objectAt(document, 'paths'), '/paths');
  yield* schemasUnder(objectAt(document, 'webhooks'), '/webhooks');
}

/**
 * Outside of `components.schemas`, a schema is the value of the key `schema`. Values of examples are not part of the
 * contract.
 */
function* schemasUnder(node: Json, pointer: string): Generator<SchemaPlace> {
  if (Array.isArray(node)) {
    for (const [index, item] of node.entries()) yield* schemasUnder(item, `${pointer}/${index}`);
  } else if (isObject(node)) {
    for (const [key, value] of Object.entries(node)) {
      const below = `${pointer}/${escapePointer(key)}`;
      if (key === 'example' || key === 'examples') continue;
      if (key === 'schema' && isObject(value)) yield* walkSchema({ schema: value, pointer: below });
      else yield* schemasUnder(value, below);
    }
  }
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
