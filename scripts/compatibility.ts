import type { Body, JsonObject, Operation } from './openapi-document.ts';
import { bodiesOf, eventsOf, objectAt, operationsOf, parametersOf, resolve } from './openapi-document.ts';
import { schemaBreaks } from './schema-compatibility.ts';

/**
 * Lists the changes of a contract that break clients. Requests must stay valid, and responses must keep their members.
 * Responses may gain error statuses, properties, enum values and members of unions, because clients ignore values that
 * they do not know.
 *
 * @param before the released contract
 * @param after the contract to release
 * @returns one sentence per break, each once; none if every old client keeps working
 */
export function breakingChanges(before: JsonObject, after: JsonObject): string[] {
  const successors = new Map(operationsOf(after).map((operation) => [operation.id, operation]));
  const found = new Set<string>();
  for (const operation of operationsOf(before)) {
    const successor = successors.get(operation.id);
    if (!successor) found.add(`${operation.id}: the operation was removed`);
    else for (const finding of operationBreaks({ before, after }, operation, successor)) found.add(finding);
  }
  for (const finding of eventBreaks({ before, after })) found.add(finding);
  return [...found];
}

interface Documents {
  readonly before: JsonObject;
  readonly after: JsonObject;
}

function* operationBreaks(documents: Documents, old: Operation, now: Operation): Generator<string> {
  if (old.method !== now.method || old.path !== now.path) {
    yield `${old.id}: moved from ${old.method} ${old.path} to ${now.method} ${now.path}`;
  }
  if (securityOf(old) !== securityOf(now)) yield `${old.id}: demands other scopes`;
  for (const status of Object.keys(objectAt(old.definition, 'responses'))) {
    if (!(status in objectAt(now.definition, 'responses'))) yield `${old.id}: no longer returns ${status}`;
  }
  yield* parameterBreaks(documents, old, now);
  yield* bodyBreaks(documents, old, now);
}

/** An event is sent to the client, so it is compared like a response. */
function* eventBreaks({ before, after }: Documents): Generator<string> {
  const successors = new Map(eventsOf(after).map((event) => [event.type, event]));
  for (const { type, media } of eventsOf(before)) {
    const successor = successors.get(type);
    if (!successor) yield `${type}: the event was removed`;
    else {
      const schemas = { before: media['schema'], after: successor.media['schema'] };
      yield* schemaBreaks({ before, after, direction: 'response' }, schemas, type);
    }
  }
}

function securityOf({ definition }: Operation): string {
  return JSON.stringify(definition['security'] ?? null);
}

function* parameterBreaks({ before, after }: Documents, old: Operation, now: Operation): Generator<string> {
  const key = (parameter: JsonObject) => `${parameter['in']} parameter ${parameter['name']}`;
  const olds = new Map(parametersOf(before, old).map((parameter) => [key(parameter), parameter]));
  const nows = new Map(parametersOf(after, now).map((parameter) => [key(parameter), parameter]));
  for (const [name, parameter] of olds) {
    const successor = nows.get(name);
    if (!successor) yield `${old.id}: the ${name} was removed`;
    else {
      const schemas = { before: parameter['schema'], after: successor['schema'] };
      yield* schemaBreaks({ before, after, direction: 'request' }, schemas, `${old.id}: the ${name}`);
    }
  }
  for (const [name, parameter] of nows) {
    const isNewlyRequired = parameter['required'] === true && olds.get(name)?.['required'] !== true;
    if (isNewlyRequired) yield `${old.id}: the ${name} is required now`;
  }
}

function* bodyBreaks({ before, after }: Documents, old: Operation, now: Operation): Generator<string> {
  const isRequired = (document: JsonObject, { definition }: Operation) =>
    resolve(document, definition['requestBody'])['required'] === true;
  if (isRequired(after, now) && !isRequired(before, old)) yield `${old.id}: the body is required now`;

  const successors = bodiesOf(after, now);
  for (const body of bodiesOf(before, old)) {
    // A removed status was reported before, so its body is not compared.
    if (body.side !== 'request' && !(body.side in objectAt(now.definition, 'responses'))) continue;
    const successor = successors.find((other) => other.side === body.side && other.mediaType === body.mediaType);
    if (!successor) yield `${old.id}: the ${sideName(body)} is no longer ${body.mediaType}`;
    else {
      const direction = body.side === 'request' ? 'request' : 'response';
      const schemas = { before: body.media['schema'], after: successor.media['schema'] };
      yield* schemaBreaks({ before, after, direction }, schemas, `${old.id}: the ${sideName(body)}`);
    }
  }
}

function sideName({ side }: Body): string {
  return side === 'request' ? 'request body' : `body of ${side}`;
}
