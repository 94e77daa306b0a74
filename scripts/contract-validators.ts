import standalone from 'ajv/dist/standalone/index.js';
import { type Document, OpenAPIRouter, OpenAPIValidator, type Operation } from 'openapi-backend';
import type { ValidatorModule } from '../http/validation/validators.ts';
import { createAjv, type Direction } from './contract-ajv.ts';
import { isObject, type Json, type JsonObject, objectAt } from './openapi-document.ts';
import { walkSchemas } from './walk-schemas.ts';

/** The package is CommonJS: its function is under `default`, both for the compiler and at run time. */
const codeOf = standalone.default;
const SCHEMAS = '#/components/schemas/';
const PARAMETERS = '#/components/parameters/';
/** Keywords that only readers need. */
const WORDS = ['title', 'description', 'example', 'examples', 'externalDocs'];

/** The form of the contract that the server loads instead of the document. */
export interface ServedContract {
  /** The operations, with the names of validators in place of schemas. */
  routes: JsonObject;
  /** The code of each module of validators, as CommonJS. */
  modules: Record<ValidatorModule, string>;
}

/**
 * Generates the validators of all operations, so that the server compiles no schema of the contract. openapi-backend
 * builds the schema of each request, as it would at run time, and Ajv writes the code.
 */
export function serveContract(bundle: JsonObject): ServedContract {
  const document = readyForAjv(bundle);
  const components = objectAt(objectAt(document, 'components'), 'schemas');
  const definition = resolved({ ...document, components: {} }, document) as unknown as Document;
  const operations = new OpenAPIRouter({ definition }).getOperations();
  const shared = { ...prefixed('schema', components), ...sharedParameters(document) };
  const module = (direction: Direction, errors: 'first' | 'all', schemas: Map<string, object>) =>
    moduleOf(direction, errors, shared, schemas);
  const [bodies, parameters] = requestSchemas(definition, operations);
  const { securitySchemes } = objectAt(document, 'components');
  const { routes, responses } = routesOf(definition, components);
  return {
    routes: { ...routes, ...(securitySchemes && { components: { securitySchemes } }) },
    modules: {
      bodies: module('request', 'first', bodies),
      'bodies-errors': module('request', 'all', bodies),
      parameters: module('parameters', 'all', parameters),
      responses: module('response', 'first', responses),
    },
  };
}

/**
 * Returns a copy for Ajv: without texts, events and mappings of discriminators. Its references use the names under
 * which the schemas are registered with Ajv.
 */
function readyForAjv(bundle: JsonObject): JsonObject {
  const { webhooks: _events, ...served } = bundle;
  const document = JSON.parse(JSON.stringify(served).replaceAll(`"${SCHEMAS}`, '"schema:')) as JsonObject;
  for (const { schema } of walkSchemas(document)) {
    for (const word of WORDS) delete schema[word];
    // Client generators need the mapping; Ajv takes the values from the branches and rejects a mapping.
    delete objectAt(schema, 'discriminator')['mapping'];
  }
  return document;
}

/** Replaces references to parameters, responses and headers by their targets. */
function resolved(node: Json, document: JsonObject): Json {
  if (Array.isArray(node)) return node.map((item) => resolved(item, document));
  if (!isObject(node)) return node;
  const ref = node['$ref'];
  if (typeof ref === 'string' && ref.startsWith('#/')) {
    const target = ref
      .slice(2)
      .split('/')
      .reduce((at, name) => objectAt(at, name), document);
    const name = ref.slice(PARAMETERS.length);
    if (ref.startsWith(PARAMETERS) && isShareable(objectAt(target, 'schema'))) {
      return { ...target, schema: { $ref: `parameter:${name}` } };
    }
    return resolved(target, document);
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value, document)]));
}

/** Returns the schemas of parameters that several operations can share, by the name that Ajv knows them by. */
function sharedParameters(document: JsonObject): JsonObject {
  const parameters = Object.entries(objectAt(objectAt(document, 'components'), 'parameters'));
  const schemas = parameters.map(([name, parameter]) => [name, objectAt(parameter as JsonObject, 'schema')] as const);
  return prefixed('parameter', Object.fromEntries(schemas.filter(([, schema]) => isShareable(schema))));
}

/**
 * Whether the schema of a parameter can be replaced by a reference. Ajv and openapi-backend do not follow a reference
 * when they look for these two keywords.
 */
function isShareable(schema: JsonObject): boolean {
  return !('default' in schema || 'additionalProperties' in schema);
}

function prefixed(prefix: string, schemas: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [`${prefix}:${name}`, schema]));
}

/** Returns the schemas of bodies and of parameters, by operation, as openapi-backend builds them. */
function requestSchemas(
  definition: Document,
  operations: readonly Operation[],
): [Map<string, object>, Map<string, object>] {
  const bodies = new Map<string, object>();
  const parameters = new Map<string, object>();
  for (const operation of operations) {
    const id = operation.operationId as string;
    const collect = (schemas: Map<string, object>) => ({
      compile: (schema: object) => {
        schemas.set(id, schema);
        return () => true;
      },
    });
    const validator = new OpenAPIValidator({
      definition,
      lazyCompileValidators: true,
      coerceTypes: true,
      customizeAjv: (_ajv, _options, context) =>
        collect(String(context) === 'requestBodyValidator' ? bodies : parameters) as never,
    });
    validator.buildRequestValidatorsForOperation(operation);
  }
  return [bodies, parameters];
}

/** Returns the operations without their schemas, and the schemas of their responses by name. */
function routesOf(
  definition: Document,
  components: JsonObject,
): { routes: JsonObject; responses: Map<string, object> } {
  const { openapi, paths, security } = definition as unknown as JsonObject & { openapi: string };
  const responses = new Map<string, object>();
  const mediaOf = (media: Json, place: string): JsonObject => {
    const { schema } = media as JsonObject;
    if (!isObject(schema)) return {};
    const ref = schema['$ref'];
    const name = typeof ref === 'string' && Object.keys(schema).length === 1 ? ref.replace('schema:', '') : place;
    responses.set(name, schema);
    return { schema: { validator: name } };
  };
  const responseOf = (response: Json, place: string): JsonObject => {
    const { content } = response as JsonObject;
    return isObject(content) ? { content: mapValues(content, (media) => mediaOf(media, place)) } : {};
  };
  const operationOf = (operation: Json): Json => {
    if (!isObject(operation) || typeof operation['operationId'] !== 'string') return [];
    const id = operation['operationId'];
    const isKept = (key: string) => ['operationId', 'security'].includes(key) || key.startsWith('x-valetkey-');
    return {
      ...Object.fromEntries(Object.entries(operation).filter(([key]) => isKept(key))),
      ...requestBodyOf(operation, components),
      responses: mapValues(objectAt(operation, 'responses'), (response, status) =>
        responseOf(response, `${id}_${status}`),
      ),
    };
  };
  const items = mapValues(paths as JsonObject, (item) => mapValues(item as JsonObject, operationOf));
  return { routes: { openapi, info: {}, ...(security && { security }), paths: items }, responses };
}

/** Returns the media type of a body, and the names of the fields of a form. */
function requestBodyOf(operation: JsonObject, components: JsonObject): JsonObject {
  const content = objectAt(operation, 'requestBody')['content'];
  if (!isObject(content)) return {};
  const fieldsOf = (media: Json) => {
    const schema = objectAt(media as JsonObject, 'schema');
    const { $ref: ref } = schema;
    const form = typeof ref === 'string' ? objectAt(components, ref.replace('schema:', '')) : schema;
    return { schema: { properties: mapValues(objectAt(form, 'properties'), () => ({})) } };
  };
  const mediaOf = (media: Json, type: string) => (type === 'application/json' ? {} : fieldsOf(media));
  return { requestBody: { content: mapValues(content, mediaOf) } };
}

function mapValues(object: JsonObject, map: (value: Json, key: string) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]));
}

function moduleOf(
  direction: Direction,
  errors: 'first' | 'all',
  shared: JsonObject,
  schemas: ReadonlyMap<string, object>,
): string {
  const ajv = createAjv(direction, errors);
  for (const [name, schema] of Object.entries(shared)) ajv.addSchema(schema as object, name);
  const exported: Record<string, string> = {};
  for (const [name, schema] of schemas) {
    const id = `exported:${name}`;
    ajv.addSchema(schema, id);
    exported[name] = id;
  }
  // The generated errors contain the place of each keyword in the schema. Nothing reads it, and it is a sixth of the
  // code, so it is removed.
  return codeOf(ajv, exported).replaceAll(/,schemaPath:"(?:[^"\\]|\\.)*"/g, '');
}
