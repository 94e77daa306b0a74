import { isDeepStrictEqual } from 'node:util';
import {
  eventsAreDescribed,
  eventsAreListed,
  eventsHaveNames,
  eventsHoldNoSecrets,
  eventsNameTheirSubject,
} from './contract-event-rules.ts';
import { requestsAreBounded, requestsHoldNothingReadOnly } from './contract-request-rules.ts';
import type { JsonObject, Operation } from './openapi-document.ts';
import { arrayAt, bodiesOf, isObject, objectAt, operationsOf, parametersOf, resolve } from './openapi-document.ts';
import { subschemas, walkSchemas } from './walk-schemas.ts';

/** The project's own schema keywords, which must be registered with validators. */
export const SCHEMA_EXTENSIONS: readonly string[] = ['x-secret'];

const STATUSES_OF_ALL = ['400', '401', '403', '421', '429', '500', '503'];
const STATUSES_WITH_BODY = ['413', '415'];
const STATUSES_IDEMPOTENT = ['409', '422'];

type Rule = (document: JsonObject) => Iterable<string>;

/**
 * Checks a bundled contract by the project's own rules, which general linters do not know; handlers, validators and log
 * masks rely on them.
 *
 * @returns one sentence per violation, with its place; empty if there is none
 */
export function breaksOfContractRules(document: JsonObject): string[] {
  const recursive = [...schemasAreNotRecursive(document)];
  // With a recursive schema, other rules would not end.
  return recursive.length > 0 ? recursive : RULES.flatMap((rule) => [...rule(document)]);
}

function* operationIdsAreUnique(document: JsonObject): Generator<string> {
  const seen = new Set<string>();
  for (const { id, method, path, definition } of operationsOf(document)) {
    if (typeof definition['operationId'] !== 'string') yield `${method} ${path}: has no operationId`;
    if (seen.has(id)) yield `${method} ${path}: the operationId ${id} is taken`;
    seen.add(id);
  }
}

/** With `default` or `4XX`, every status would be a declared one, so a check could not find an undeclared status. */
function* statusesAreExact(document: JsonObject): Generator<string> {
  for (const { id, definition } of operationsOf(document)) {
    for (const status of Object.keys(objectAt(definition, 'responses'))) {
      if (!/^[1-5]\d\d$/.test(status)) yield `${id}: declares ${status} instead of exact statuses`;
    }
  }
}

/** An operation must require exactly one scope, or none if `security` is empty; it never inherits the requirement. */
function* operationsNameOneScope(document: JsonObject): Generator<string> {
  const schemes = objectAt(objectAt(document, 'components'), 'securitySchemes');
  const flow = objectAt(objectAt(objectAt(schemes, 'oauth2'), 'flows'), 'clientCredentials');
  const known = Object.keys(objectAt(flow, 'scopes'));
  for (const { id, definition } of operationsOf(document)) {
    if (!Array.isArray(definition['security'])) yield `${id}: says nothing of security`;
    const [requirement, ...others] = arrayAt(definition, 'security');
    if (requirement === undefined) continue;
    const scopes = isObject(requirement) ? arrayAt(requirement, 'oauth2') : [];
    const isExact = others.length === 0 && scopes.length === 1 && known.includes(String(scopes[0]));
    if (!isExact) yield `${id}: must demand exactly one known scope of oauth2`;
  }
}

function* bearerOperationsDeclareCommonStatuses(document: JsonObject): Generator<string> {
  for (const operation of operationsOf(document)) {
    const { id, method, definition } = operation;
    if (arrayAt(definition, 'security').length === 0) continue;
    const wanted = [...STATUSES_OF_ALL];
    if (definition['requestBody']) wanted.push(...STATUSES_WITH_BODY);
    if (method === 'post') wanted.push(...STATUSES_IDEMPOTENT);
    const missing = wanted.filter((status) => !(status in objectAt(definition, 'responses')));
    if (missing.length > 0) yield `${id}: does not declare ${missing.join(', ')}`;
    if (method === 'post' && !takesIdempotencyKey(document, operation)) yield `${id}: does not take Idempotency-Key`;
  }
}

function takesIdempotencyKey(document: JsonObject, operation: Operation): boolean {
  return parametersOf(document, operation).some(
    ({ name, in: place }) => place === 'header' && name === 'Idempotency-Key',
  );
}

/** A body is validated by one schema, so it must have one media type. */
function* bodiesHaveOneMediaType(document: JsonObject): Generator<string> {
  for (const operation of operationsOf(document)) {
    const sides = bodiesOf(document, operation).map(({ side }) => side);
    for (const side of new Set(sides.filter((side, index) => sides.indexOf(side) !== index))) {
      yield `${operation.id} ${side}: has several media types`;
    }
  }
}

function* bodiesHaveExamples(document: JsonObject): Generator<string> {
  for (const operation of operationsOf(document)) {
    for (const { side, mediaType, media } of bodiesOf(document, operation)) {
      const examples = Object.values(objectAt(media, 'examples')).map((example) => resolve(document, example));
      const place = `${operation.id} ${side} ${mediaType}`;
      if (examples.length === 0) yield `${place}: has no example`;
      if (examples.some((example) => !('value' in example && example['summary']))) {
        yield `${place}: an example lacks its value or its summary`;
      }
    }
  }
}

function* parametersAreDescribed(document: JsonObject): Generator<string> {
  for (const operation of operationsOf(document)) {
    for (const parameter of parametersOf(document, operation)) {
      const place = `${operation.id} parameter ${parameter['name']}`;
      if (!parameter['description']) yield `${place}: is not described`;
      if (parameter['example'] === undefined) yield `${place}: has no example`;
    }
  }
}

function* propertiesAreDescribed(document: JsonObject): Generator<string> {
  for (const { schema, pointer } of walkSchemas(document)) {
    for (const [name, property] of Object.entries(objectAt(schema, 'properties'))) {
      if (!resolve(document, property)['description']) yield `${pointer}: the property ${name} is not described`;
    }
  }
}

/** Closed schemas detect misspelled properties; an object for any JSON must say so by `additionalProperties`. */
function* objectsSayWhetherTheyAreClosed(document: JsonObject): Generator<string> {
  for (const { schema, pointer } of walkSchemas(document)) {
    const isPlainObject = schema['type'] === 'object' && !schema['oneOf'];
    if (!isPlainObject || 'additionalProperties' in schema || schema['maxProperties'] === 0) continue;
    yield `${pointer}: an object must say additionalProperties`;
  }
}

/**
 * For an object with `properties` and a schema in `additionalProperties`, generators create a type whose optional
 * members contradict its index signature.
 */
function* objectsDoNotMixMembersAndMaps(document: JsonObject): Generator<string> {
  for (const { schema, pointer } of walkSchemas(document)) {
    const isMap = typeof schema['additionalProperties'] === 'object';
    if (isMap && 'properties' in schema) yield `${pointer}: an object has either properties or a schema for all others`;
  }
}

function* schemasKeepToKnownWords(document: JsonObject): Generator<string> {
  for (const { schema, pointer } of walkSchemas(document)) {
    if ('nullable' in schema) yield `${pointer}: nullable is not OpenAPI 3.1; say type: [..., 'null']`;
    if ('example' in schema) yield `${pointer}: put examples beside the schema, not into it`;
    for (const keyword of Object.keys(schema)) {
      if (keyword.startsWith('x-') && !SCHEMA_EXTENSIONS.includes(keyword)) yield `${pointer}: ${keyword} is not known`;
    }
  }
}

/** With a recursive schema, the search for secrets and the backend's own checks would not end. */
export function* schemasAreNotRecursive(document: JsonObject): Generator<string> {
  const done = new Set<string>();
  function* visit(name: string, trail: readonly string[]): Generator<string> {
    if (trail.includes(name)) yield `${[...trail, name].join(' > ')}: is recursive`;
    if (trail.includes(name) || done.has(name)) return;
    const schema = objectAt(objectAt(objectAt(document, 'components'), 'schemas'), name);
    for (const used of componentsUsedBy(schema)) yield* visit(used, [...trail, name]);
    done.add(name);
  }
  for (const name of Object.keys(objectAt(objectAt(document, 'components'), 'schemas'))) yield* visit(name, []);
}

function* componentsUsedBy(schema: JsonObject): Generator<string> {
  const reference = schema['$ref'];
  if (typeof reference === 'string') yield reference.split('/').at(-1) as string;
  for (const inner of subschemas({ schema, pointer: '' })) yield* componentsUsedBy(inner.schema);
}

/**
 * Client generators make a member with a default required. Parameters are an exception, because there a default does
 * not change the type.
 */
function* bodiesHaveNoDefaults(document: JsonObject): Generator<string> {
  for (const { schema, pointer } of walkSchemas(document)) {
    const isParameter = pointer.includes('/parameters/');
    if ('default' in schema && !isParameter)
      yield `${pointer}: state the default in the description instead of default`;
  }
}

/** Generated clients use these names for types: a name such as `API_KEY` collides with constants, or is renamed. */
function* schemasHaveTypeNames(document: JsonObject): Generator<string> {
  for (const name of Object.keys(objectAt(objectAt(document, 'components'), 'schemas'))) {
    if (!/^[A-Z][A-Za-z0-9]*$/.test(name) || name === name.toUpperCase()) yield `${name}: must be in PascalCase`;
  }
}

/** Some generators only support `const`, others only `enum`, so both are required. */
function* constantsAreChoicesToo(document: JsonObject): Generator<string> {
  for (const { schema, pointer } of walkSchemas(document)) {
    const choices = arrayAt(schema, 'enum');
    if ('const' in schema && (choices.length !== 1 || choices[0] !== schema['const']))
      yield `${pointer}: say enum beside const`;
  }
}

/** Some generators write code that does not compile for null among strings. */
function* nullIsNotAChoice(document: JsonObject): Generator<string> {
  for (const { schema, pointer } of walkSchemas(document)) {
    if (arrayAt(schema, 'enum').includes(null)) yield `${pointer}: say oneOf with the enum and the type null`;
  }
}

/**
 * Generated clients choose the type of a value by the mapping; without one, some guess it from the names of components.
 */
function* unionsByTagHaveMappings(document: JsonObject): Generator<string> {
  for (const { schema, pointer } of walkSchemas(document)) {
    for (const union of ['oneOf', 'anyOf']) {
      const branches = arrayAt(schema, union);
      const [first = {}, ...others] = branches.map((branch) => constantsOf(resolve(document, branch)));
      const tag = Object.keys(first).find((name) => others.length > 0 && others.every((other) => name in other));
      if (tag === undefined) continue;
      const references = branches.map((branch) => (isObject(branch) ? branch['$ref'] : undefined));
      const wanted = [first, ...others].map((constants, index) => [constants[tag], references[index]]);
      const { propertyName, mapping } = objectAt(schema, 'discriminator');
      if (propertyName !== tag || !isDeepStrictEqual(mapping, Object.fromEntries(wanted)))
        yield `${pointer}: say a discriminator with propertyName ${tag} and a mapping of every value to its branch`;
    }
  }
}

/** Returns the properties of a schema that have only one allowed value. */
function constantsOf(schema: JsonObject): JsonObject {
  const properties = Object.entries(objectAt(schema, 'properties'));
  return Object.fromEntries(
    properties.flatMap(([name, property]) => {
      const value = isObject(property) ? property['const'] : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

const RULES: readonly Rule[] = [
  operationIdsAreUnique,
  statusesAreExact,
  operationsNameOneScope,
  bearerOperationsDeclareCommonStatuses,
  bodiesHaveOneMediaType,
  bodiesHaveExamples,
  parametersAreDescribed,
  propertiesAreDescribed,
  objectsSayWhetherTheyAreClosed,
  objectsDoNotMixMembersAndMaps,
  schemasKeepToKnownWords,
  schemasHaveTypeNames,
  constantsAreChoicesToo,
  nullIsNotAChoice,
  unionsByTagHaveMappings,
  requestsHoldNothingReadOnly,
  bodiesHaveNoDefaults,
  requestsAreBounded,
  eventsHaveNames,
  eventsAreDescribed,
  eventsAreListed,
  eventsNameTheirSubject,
  eventsHoldNoSecrets,
];
