import type { Json, JsonObject } from './openapi-document.ts';
import { arrayAt, eventsOf, isObject, objectAt, resolve } from './openapi-document.ts';
import { secretsIn } from './secret-paths.ts';

/** Event sinks and filters use the part before the dot as the resource, so it must have this format. */
export function* eventsHaveNames(document: JsonObject): Generator<string> {
  for (const { type } of eventsOf(document)) {
    if (!/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/.test(type)) yield `${type}: an event is named resource.verb`;
  }
}

export function* eventsAreDescribed(document: JsonObject): Generator<string> {
  for (const { type, definition, media } of eventsOf(document)) {
    if (!definition['summary'] || !definition['description']) yield `${type}: needs a summary and a description`;
    if (Object.keys(objectAt(media, 'examples')).length === 0) yield `${type}: has no example`;
  }
}

/**
 * The subject is the object that an event is about. Ordered endpoints get the events of a subject in order, and the
 * audit log records the subject, so every event of a type must contain it.
 */
export function* eventsNameTheirSubject(document: JsonObject): Generator<string> {
  for (const { type, media, subject } of eventsOf(document)) {
    const data = objectAt(resolve(document, media['schema']), 'properties')['data'];
    const steps = subject.split('/').slice(1);
    if (steps.length === 0 || !leadsToText(document, data, steps))
      yield `${type}: x-subject must point to a required text in data`;
  }
}

function leadsToText(document: JsonObject, value: Json | undefined, steps: readonly string[]): boolean {
  const schema = resolve(document, value);
  const [step, ...others] = steps;
  if (step === undefined) return schema['type'] === 'string';
  const required = schema['required'];
  if (!Array.isArray(required) || !required.includes(step)) return false;
  const member = objectAt(schema, 'properties')[step];
  return isObject(member) && leadsToText(document, member, others);
}

/** Events are stored and sent to other systems, so they must not contain secrets. */
export function* eventsHoldNoSecrets(document: JsonObject): Generator<string> {
  for (const { type, media } of eventsOf(document)) {
    for (const path of secretsIn(document, media['schema'], '$')) yield `${type}: ${path} is a secret`;
  }
}

/** `listEvents` returns events of all declared types, and each must match the schema of its response. */
export function* eventsAreListed(document: JsonObject): Generator<string> {
  const declared = eventsOf(document).map(({ type }) => type);
  if (declared.length === 0) return;
  const event = resolve(document, objectAt(objectAt(document, 'components'), 'schemas')['Event']);
  const listed = arrayAt(resolve(document, objectAt(event, 'properties')['type']), 'enum');
  for (const type of declared) {
    if (!listed.includes(type)) yield `${type}: is missing in the enum EventType of spec/schemas/event.yaml`;
  }
  for (const type of listed) {
    if (!declared.includes(String(type))) yield `EventType: ${type} is not declared in spec/webhooks/`;
  }
}
