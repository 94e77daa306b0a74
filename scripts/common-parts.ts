import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Document, makeDocumentFromString, YamlParseError } from '@redocly/openapi-core';
import { describeProblem, describeSyntaxError, valueAt } from './bundle-problem.ts';
import type { Json, JsonObject } from './openapi-document.ts';
import { arrayAt, isObject, METHODS, objectAt } from './openapi-document.ts';

/** Which operations each group of `spec/common.yaml` applies to. */
const GROUPS: Record<string, (operation: JsonObject, method: string) => boolean> = {
  everyOperation: () => true,
  environmentOperations: ({ tags }) => !(Array.isArray(tags) && tags.includes('Service')),
  tokenOperations: (operation) => arrayAt(operation, 'security').length > 0,
  bodyOperations: (operation) => 'application/json' in objectAt(objectAt(operation, 'requestBody'), 'content'),
  idempotentOperations: (operation, method) => method === 'post' && arrayAt(operation, 'security').length > 0,
};

const SHARED_RESPONSES = 'sharedResponses';
const EVERY_WEBHOOK = 'everyWebhook';
const OTHER_GROUPS = [SHARED_RESPONSES, EVERY_WEBHOOK];

/** Adds the common parts of operations or responses in `common.yaml` to a file of the contract. */
export type CompleteFile = (path: string, content: JsonObject) => JsonObject;

/**
 * Reads the common parts of a contract's operations.
 *
 * @param root path of the root document; `common.yaml` is in the same folder and optional
 * @throws Error with one line per problem, `file:line:column: message`, if `common.yaml` is not YAML, or has an unknown
 * group or a reference without a target
 */
export function readCommonParts(root: string): CompleteFile {
  const folder = dirname(root);
  const file = join(folder, 'common.yaml');
  if (!existsSync(file)) return (_path, content) => content;
  const groups = readGroups(file);
  return (path, content) => {
    const link = (parts: JsonObject) => relink(parts, relative(dirname(path), folder));
    if (dirname(path) === join(folder, 'paths'))
      return mapValues(content, (item) => completePathItem(groups, item, link));
    if (path === join(folder, 'responses.yaml')) {
      const { headers = {} } = link(objectAt(groups, SHARED_RESPONSES));
      return mapValues(content, (response) => withHeaders(response, headers as JsonObject));
    }
    if (dirname(path) === join(folder, 'webhooks')) {
      const common = link(objectAt(groups, EVERY_WEBHOOK));
      return mapValues(content, (item) => completeWebhook(item, common));
    }
    return content;
  };
}

function readGroups(file: string): JsonObject {
  const { source, parsed } = readYaml(file);
  const groups: JsonObject = isObject(parsed) ? parsed : {};
  const unknown = Object.keys(groups).filter((name) => !(name in GROUPS) && !OTHER_GROUPS.includes(name));
  const problems = [
    ...unknown.map((name) => ({
      message: `unknown group ${name} (allowed: ${Object.keys(GROUPS).join(', ')})`,
      pointer: `#/${name}`,
    })),
    ...brokenReferences(file, groups, '#').map((pointer) => ({ message: "Can't resolve $ref", pointer })),
  ];
  if (problems.length === 0) return groups;
  const lines = problems.map(({ message, pointer }) =>
    describeProblem({ message, location: [{ source, pointer, reportOnKey: true }] }),
  );
  throw new Error(lines.join('\n'));
}

function readYaml(file: string): Document {
  try {
    return makeDocumentFromString(readFileSync(file, 'utf8'), file);
  } catch (error) {
    throw error instanceof YamlParseError ? new Error(describeSyntaxError(error)) : error;
  }
}

/** Returns pointers to the objects whose `$ref` has no target. */
function brokenReferences(file: string, node: Json, pointer: string): string[] {
  if (!isObject(node) && !Array.isArray(node)) return [];
  const reference = isObject(node) ? node['$ref'] : undefined;
  if (typeof reference !== 'string')
    return Object.entries(node).flatMap(([key, value]) => brokenReferences(file, value as Json, `${pointer}/${key}`));
  const [path = '', target = ''] = reference.split('#');
  const other = resolve(dirname(file), path);
  const isFound = existsSync(other) && valueAt(readYaml(other).parsed, target) !== undefined;
  return isFound ? [] : [pointer];
}

/** Adapts references of `common.yaml` to a file in another folder. */
function relink(node: JsonObject, folder: string): JsonObject {
  return JSON.parse(JSON.stringify(node), (key, value) => (key === '$ref' ? join(folder, value) : value)) as JsonObject;
}

function completePathItem(groups: JsonObject, item: Json, link: (parts: JsonObject) => JsonObject): Json {
  if (!isObject(item)) return item;
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]) => {
      if (!METHODS.has(method) || !isObject(operation)) return [method, operation];
      const matching = Object.entries(GROUPS).filter(([, isFor]) => isFor(operation, method));
      return [
        method,
        completeOperation(
          operation,
          matching.map(([name]) => link(objectAt(groups, name))),
        ),
      ];
    }),
  );
}

/** The operation of a webhook also gets the tags and the security of the group. */
function completeWebhook(item: Json, common: JsonObject): Json {
  const { tags = [], security = [] } = common;
  return mapValues(item as JsonObject, (operation) =>
    isObject(operation) ? { tags, security, ...completeOperation(operation, [common]) } : operation,
  );
}

function completeOperation(operation: JsonObject, groups: JsonObject[]): JsonObject {
  const headers = Object.assign({}, ...groups.map((group) => group['headers'])) as JsonObject;
  const responses = Object.assign({}, ...groups.map((group) => group['responses'])) as JsonObject;
  const own = mapValues(objectAt(operation, 'responses'), (response) => withHeaders(response, headers));
  const parameters = [operation, ...groups].flatMap((holder) => arrayAt(holder, 'parameters'));
  const isFirst = (parameter: Json, index: number) =>
    parameters.findIndex((other) => isDeepStrictEqual(other, parameter)) === index;
  return {
    ...operation,
    ...(parameters.length > 0 ? { parameters: parameters.filter(isFirst) } : {}),
    responses: merged(responses, own),
  };
}

/** Adds headers to a response. A reference is not changed, because the referenced response has these headers. */
function withHeaders(response: Json, headers: JsonObject): Json {
  if (!isObject(response) || '$ref' in response) return response;
  const { description, headers: own, ...rest } = response;
  return { description: description as Json, headers: merged(headers, isObject(own) ? own : {}), ...rest };
}

/** Merges two objects; the second one takes precedence, and its `null` removes a member. */
function merged(common: JsonObject, own: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...common, ...own }).filter(([, value]) => value !== null));
}

function mapValues(holder: JsonObject, change: (value: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(holder).map(([key, value]) => [key, change(value)]));
}
