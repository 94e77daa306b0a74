import type { Json, JsonObject } from './bundle.ts';

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch']);

/**
 * Lists every place of the interface that carries a secret, by the contract's `x-secret` marks: what logs and error reports must
 * mask. Each entry is `<operationId> request|<status> <JSON path>`; `[*]` stands for every item and `.*` for every member.
 *
 * @param document the bundled contract
 * @returns the entries, sorted, each once
 */
export function secretPaths(document: JsonObject): string[] {
  const found = new Set<string>();
  for (const item of Object.values(document['paths'] as JsonObject)) {
    for (const [method, operation] of Object.entries(item as JsonObject)) {
      if (!METHODS.has(method)) continue;
      for (const [side, schema] of bodiesOf(document, operation as JsonObject)) {
        for (const path of secretsIn(document, schema)) {
          found.add(`${(operation as JsonObject)['operationId']} ${side} ${path}`);
        }
      }
    }
  }
  return [...found].sort();
}

/** The schemas of an operation's bodies, by side: `request`, or the status of the answer. */
function* bodiesOf(document: JsonObject, operation: JsonObject): Generator<[string, Json]> {
  const sides: [string, Json | undefined][] = [['request', operation['requestBody']]];
  sides.push(...Object.entries(operation['responses'] as JsonObject));
  for (const [side, holder] of sides) {
    const content = resolve(document, holder ?? {})['content'] ?? {};
    for (const media of Object.values(content as JsonObject)) yield [side, (media as JsonObject)['schema'] ?? {}];
  }
}

/** Schemas of the contract are not recursive (a lint rule), so the walk ends. */
function* secretsIn(document: JsonObject, value: Json, path = '$'): Generator<string> {
  const schema = resolve(document, value);
  if (schema['x-secret'] === true) yield path;
  for (const union of ['oneOf', 'anyOf', 'allOf']) {
    for (const branch of (schema[union] as Json[] | undefined) ?? []) yield* secretsIn(document, branch, path);
  }
  for (const [name, property] of Object.entries((schema['properties'] ?? {}) as JsonObject)) {
    yield* secretsIn(document, property, `${path}.${name}`);
  }
  if (isObject(schema['items'])) yield* secretsIn(document, schema['items'], `${path}[*]`);
  if (isObject(schema['additionalProperties'])) yield* secretsIn(document, schema['additionalProperties'], `${path}.*`);
}

/** Follows a local reference; what stands beside `$ref` (a description) is kept. */
export function resolve(document: JsonObject, value: Json): JsonObject {
  if (!isObject(value)) return {};
  const { $ref: reference, ...beside } = value;
  if (typeof reference !== 'string') return value;
  const target = reference
    .slice(2)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json | undefined>((node, part) => (isObject(node) ? node[part] : undefined), document);
  if (!isObject(target)) throw new Error(`${reference} leads nowhere`);
  return { ...resolve(document, target), ...beside };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
