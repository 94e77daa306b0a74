import type { Json, JsonObject } from './openapi-document.ts';
import { arrayAt, bodiesOf, isObject, objectAt, operationsOf, resolve } from './openapi-document.ts';

/**
 * Lists every place in the API that contains a secret, by the contract's `x-secret` marks; logs and error reports must
 * mask these. Each entry is `<operationId> request|<status> <JSON path>`; `[*]` matches every item and `.*` every
 * member.
 *
 * @param document the bundled contract; a lint rule excludes recursive schemas, so the search ends
 * @returns the distinct entries, sorted
 */
export function secretPaths(document: JsonObject): string[] {
  const found = new Set<string>();
  for (const operation of operationsOf(document)) {
    for (const { side, media } of bodiesOf(document, operation)) {
      for (const path of secretsIn(document, media['schema'], '$')) found.add(`${operation.id} ${side} ${path}`);
    }
  }
  return [...found].sort();
}

/** Yields the places of secrets in the values of a schema, as JSON paths. */
export function* secretsIn(document: JsonObject, value: Json | undefined, path: string): Generator<string> {
  const schema = resolve(document, value);
  if (schema['x-secret'] === true) yield path;
  for (const union of ['oneOf', 'anyOf', 'allOf']) {
    for (const branch of arrayAt(schema, union)) yield* secretsIn(document, branch, path);
  }
  for (const [name, property] of Object.entries(objectAt(schema, 'properties'))) {
    yield* secretsIn(document, property, `${path}.${name}`);
  }
  if (isObject(schema['items'])) yield* secretsIn(document, schema['items'], `${path}[*]`);
  if (isObject(schema['additionalProperties'])) yield* secretsIn(document, schema['additionalProperties'], `${path}.*`);
}
