import type { Json, JsonObject, Operation } from './openapi-document.ts';
import { bodiesOf, operationsOf, parametersOf, resolve } from './openapi-document.ts';
import { subschemas } from './walk-schemas.ts';

/** A schema that validates data of a client; `place` names the operation and the path in its request. */
interface RequestSchema {
  readonly schema: JsonObject;
  readonly place: string;
}

/** Properties that only the server sets must not be in a request's schema; closed schemas then reject them by name. */
export function* requestsHoldNothingReadOnly(document: JsonObject): Generator<string> {
  for (const { schema, place } of bodySchemas(document)) {
    if (schema['readOnly'] === true) yield `${place}: a request has no readOnly property`;
  }
}

/** Everything that a client sends must have an upper bound, which validators check before the content. */
export function* requestsAreBounded(document: JsonObject): Generator<string> {
  for (const { schema, place } of [...bodySchemas(document), ...parameterSchemas(document)]) {
    const types = [schema['type'] ?? []].flat();
    if (types.includes('string') && !isBoundedText(schema)) yield `${place}: has no maxLength`;
    if (types.includes('array') && !('maxItems' in schema)) yield `${place}: has no maxItems`;
    const isOpen = types.includes('object') && !('oneOf' in schema) && schema['additionalProperties'] !== false;
    if (isOpen && !('maxProperties' in schema)) yield `${place}: has no maxProperties`;
  }
}

/** A text is also bounded by its allowed values, or by a pattern without unlimited repetition. */
function isBoundedText({ pattern, ...schema }: JsonObject): boolean {
  const repeatsInBounds = typeof pattern === 'string' && /^\^[^*+]*\$$/.test(pattern) && !/\{\d*,\}/.test(pattern);
  return 'maxLength' in schema || 'enum' in schema || 'const' in schema || repeatsInBounds;
}

function* bodySchemas(document: JsonObject): Generator<RequestSchema> {
  for (const operation of operationsOf(document)) {
    for (const { side, media } of bodiesOf(document, operation)) {
      if (side === 'request') yield* reachable(document, operation, '', media['schema']);
    }
  }
}

function* parameterSchemas(document: JsonObject): Generator<RequestSchema> {
  for (const operation of operationsOf(document)) {
    for (const { name, schema } of parametersOf(document, operation)) {
      yield* reachable(document, operation, ` ${name}`, schema);
    }
  }
}

/** Yields a schema and the schemas inside it, with references resolved; the contract has no recursive schemas. */
function* reachable(
  document: JsonObject,
  operation: Operation,
  pointer: string,
  value: Json | undefined,
): Generator<RequestSchema> {
  const schema = resolve(document, value);
  yield { schema, place: `${operation.id}${pointer}` };
  for (const inner of subschemas({ schema, pointer }))
    yield* reachable(document, operation, inner.pointer, inner.schema);
}
