import type { JsonObject, Operation } from '../../scripts/openapi-document.ts';
import { arrayAt, bodiesOf, isObject, objectAt, parametersOf, resolve } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import type { TestRequest } from './server.ts';

/** A request of an operation, ready for `TestServer.call`. */
export interface ContractRequest {
  method: string;
  path: string;
  request: TestRequest;
}

/** Operations that return the errors of OAuth instead of problem documents. */
export const OAUTH_OPERATIONS: readonly string[] = ['issueToken', 'registerOAuthClient', 'revokeOAuthToken'];

/** Operations that return results for one user. */
const FOR_A_USER = ['listScopedTools', 'searchTools'];

/** Replacements for the examples of the contract. */
export interface RequestChanges {
  path?: Record<string, string>;
  query?: Record<string, string>;
  /** Replaces the first example of the body. */
  body?: JsonObject;
}

/** Returns a valid request from the operation's first examples. The objects to which it refers may not exist. */
export function requestOf(operation: Operation, changes: RequestChanges = {}): ContractRequest {
  const parameters = parametersOf(contract, operation);
  const exampleOf = (name: string) => String(parameters.find((parameter) => parameter['name'] === name)?.['example']);
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(changes.path?.[name] ?? exampleOf(name)),
  );
  // Either the id or the user names an account, so no single parameter is required.
  const one = FOR_A_USER.includes(operation.id) ? 'user_id' : 'id';
  const isNeeded = (parameter: JsonObject) => parameter['required'] === true || parameter['name'] === one;
  const needed = parameters.filter((parameter) => parameter['in'] === 'query' && isNeeded(parameter));
  const query = new URLSearchParams({
    ...Object.fromEntries(needed.map(({ name }) => [String(name), exampleOf(String(name))])),
    ...changes.query,
  });
  const body = changes.body ?? bodyExamples(operation)[0];
  // Without this header, the response of this operation does not end.
  const headers = operation.id === 'streamEvents' && { 'last-event-id': exampleOf('Last-Event-ID') };
  const isPublic = arrayAt(operation.definition, 'security').length === 0;
  return {
    method: operation.method.toUpperCase(),
    path: query.size > 0 ? `${path}?${query}` : path,
    request: {
      ...(headers && { headers }),
      ...(body && bodyRequest(operation, body)),
      ...(isPublic && { token: null }),
    },
  };
}

/** Returns the media type of the body, or undefined if the operation has none. */
export function mediaTypeOf(operation: Operation): string | undefined {
  return bodiesOf(contract, operation).find(({ side }) => side === 'request')?.mediaType;
}

/** Returns copies of the body's examples, in the order of the contract. */
export function bodyExamples(operation: Operation): JsonObject[] {
  const body = bodiesOf(contract, operation).find(({ side }) => side === 'request');
  const values = Object.values(objectAt(body?.media ?? {}, 'examples')).map(
    (entry) => resolve(contract, entry)['value'],
  );
  return structuredClone(values.filter(isObject));
}

/** Returns the top-level members of the body, by name, with their schemas. */
export function bodyMembers(operation: Operation): Record<string, JsonObject> {
  const body = bodiesOf(contract, operation).find(({ side }) => side === 'request');
  const members = Object.entries(objectAt(resolve(contract, body?.media['schema']), 'properties'));
  return Object.fromEntries(members.map(([name, schema]) => [name, resolve(contract, schema)]));
}

/** Returns a body as the service processes it: with the defaults of missing members. */
export function withDefaults(operation: Operation, body: JsonObject): JsonObject {
  const members = Object.entries(bodyMembers(operation)).filter(([, schema]) => 'default' in schema);
  const missing = members.filter(([name]) => !(name in body));
  return { ...body, ...Object.fromEntries(missing.map(([name, schema]) => [name, schema['default'] ?? null])) };
}

function bodyRequest(operation: Operation, body: JsonObject): TestRequest {
  const mediaType = mediaTypeOf(operation);
  if (mediaType !== 'application/x-www-form-urlencoded') return { body };
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body)) form.set(name, String(value));
  return { body: form.toString(), headers: { 'content-type': mediaType } };
}
