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

/** What to put in the place of the contract's examples. */
export interface RequestChanges {
  path?: Record<string, string>;
  query?: Record<string, string>;
  /** Instead of the first example of the body. */
  body?: JsonObject;
}

/** The operation's first examples make a request that fits the contract; whether it finds anything is another question. */
export function requestOf(operation: Operation, changes: RequestChanges = {}): ContractRequest {
  const parameters = parametersOf(contract, operation);
  const exampleOf = (name: string) => String(parameters.find((parameter) => parameter['name'] === name)?.['example']);
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(changes.path?.[name] ?? exampleOf(name)),
  );
  // No parameter names an account or its owner by itself, so none is required: the id, or the user, will do.
  const one = FOR_A_USER.includes(operation.id) ? 'user_id' : 'id';
  const isNeeded = (parameter: JsonObject) => parameter['required'] === true || parameter['name'] === one;
  const needed = parameters.filter((parameter) => parameter['in'] === 'query' && isNeeded(parameter));
  const query = new URLSearchParams({
    ...Object.fromEntries(needed.map(({ name }) => [String(name), exampleOf(String(name))])),
    ...changes.query,
  });
  const body = changes.body ?? bodyExamples(operation)[0];
  // Without the id of an event, its response does not end.
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

/** The media type of the body, or undefined for an operation without one. */
export function mediaTypeOf(operation: Operation): string | undefined {
  return bodiesOf(contract, operation).find(({ side }) => side === 'request')?.mediaType;
}

/** The examples of the body, in the order of the contract, as copies. */
export function bodyExamples(operation: Operation): JsonObject[] {
  const body = bodiesOf(contract, operation).find(({ side }) => side === 'request');
  const values = Object.values(objectAt(body?.media ?? {}, 'examples')).map(
    (entry) => resolve(contract, entry)['value'],
  );
  return structuredClone(values.filter(isObject));
}

/** The members that the body may have at its top, by name, with their schemas. */
export function bodyMembers(operation: Operation): Record<string, JsonObject> {
  const body = bodiesOf(contract, operation).find(({ side }) => side === 'request');
  const members = Object.entries(objectAt(resolve(contract, body?.media['schema']), 'properties'));
  return Object.fromEntries(members.map(([name, schema]) => [name, resolve(contract, schema)]));
}

/** A body as the service sees it: with the defaults of what it leaves out. */
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
