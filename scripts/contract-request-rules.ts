import type { Json, JsonObject, Operation } from './openapi-document.ts';
import { bodiesOf, operationsOf, parametersOf, resolve } from './openapi-document.ts';
import { subschemas } from './walk-schemas.ts';

/** A schema that judges something a client sends; `place` names the operation and the path inside its request. */
interface RequestSchema {
  readonly schema: JsonObject;
  readonly place: string;
}

/** What only the service sets has no place in a request's schema: closed schemas refuse it by name. */
export function* requestsHoldNothingReadOnly(document: JsonObject): Generator<string> {
  for (const { schema, place } of bodySchemas(document)) {
    if (schema['readOnly'] === true) yield `${place}: a request has no readOnly property`;
  }
}

/** Everything that a client sends has an upper bound, which validators check before they look at the content. */
export function* requestsAreBounded(document: JsonObject): Generator<string> {
  for (const { schema, place } of [...bodySchemas(document), ...parameterSchemas(document)]) {
    const types = [schema['type'] ?? []].flat();
    if (types.includes('string') && !isBoundedText(schema)) yield `${place}: has no maxLength`;
    if (types.includes('array') && !('maxItems' in schema)) yield `${place}: has no maxItems`;
    const isOpen = types.includes('object') && !('oneOf' in schema) && schema['additionalProperties'] !== false;
    if (isOpen && !('maxProperties' in schema)) yield `${place}: has no maxProperties`;
  }
}

/** Also by its choices, or by a pattern that repeats nothing without a bound. */
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

/** A schema and those inside it, references followed; the contract has no recursive ones. */
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
