import type { Json, JsonObject } from './openapi-document.ts';
import { arrayAt, bodiesOf, isObject, objectAt, operationsOf, resolve } from './openapi-document.ts';

/**
 * Lists every place of the interface that carries a secret, by the contract's `x-secret` marks: what logs and error reports must
 * mask. Each entry is `<operationId> request|<status> <JSON path>`; `[*]` stands for every item and `.*` for every member.
 *
 * @param document the bundled contract; its schemas are not recursive (a lint rule), so the walk ends
 * @returns the entries, sorted, each once
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

/** The places of secrets in the values of a schema, as JSON paths. */
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
