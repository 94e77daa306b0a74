import type { Json, JsonObject } from './openapi-document.ts';
import { arrayAt, isObject, objectAt, resolve } from './openapi-document.ts';

/** The two documents, and the direction in which the values of the schema are sent. */
export interface Comparison {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly direction: 'request' | 'response';
}

interface Pair<T> {
  readonly before: T;
  readonly after: T;
}

const LOWER_LIMITS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const UPPER_LIMITS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const FORMS = ['pattern', 'format', 'multipleOf', 'uniqueItems', 'const'];
const ALL_TYPES = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];

/**
 * Lists the breaking changes of a schema: in a request, a value that is no longer accepted; in a response, a property
 * or value that clients relied on and that may now be missing. A component that both documents use is named by its own
 * name, so that one change is one finding.
 *
 * @param place how findings name the schema where it is not a component
 */
export function* schemaBreaks(
  comparison: Comparison,
  schemas: Pair<Json | undefined>,
  place: string,
): Generator<string> {
  const name = componentName(schemas.before);
  const here = name && name === componentName(schemas.after) ? `${name} in a ${comparison.direction}` : place;
  const pair = {
    before: resolve(comparison.before, schemas.before),
    after: resolve(comparison.after, schemas.after),
  };
  if (becameUnion(pair)) {
    yield* newUnionBreaks(comparison, schemas.before, pair.after, here);
    return;
  }
  yield* typeBreaks(comparison, pair, here);
  if (comparison.direction === 'request') yield* limitBreaks(pair, here);
  yield* propertyBreaks(comparison, pair, here);
  yield* unionBreaks(comparison, pair, here);
  for (const keyword of ['items', 'additionalProperties', 'propertyNames']) {
    const [before, after] = [pair.before[keyword], pair.after[keyword]];
    if (isObject(before) && isObject(after)) yield* schemaBreaks(comparison, { before, after }, `${here} ${keyword}`);
  }
}

function componentName(schema: Json | undefined): string | undefined {
  const reference = isObject(schema) ? schema['$ref'] : undefined;
  return typeof reference === 'string' ? reference.split('/').at(-1) : undefined;
}

function* typeBreaks({ direction }: Comparison, { before, after }: Pair<JsonObject>, place: string): Generator<string> {
  const [old, now] = [typesOf(before), typesOf(after)];
  const [narrow, wide] = direction === 'request' ? [now, old] : [old, now];
  if (wide.some((type) => !narrow.includes(type))) yield `${place}: the type changed`;
}

function typesOf(schema: JsonObject): string[] {
  const type = schema['type'];
  if (type === undefined) return ALL_TYPES;
  const types = [type].flat().map(String);
  return types.includes('number') ? [...types, 'integer'] : types;
}

/** Limits of a request may only be relaxed. */
function* limitBreaks({ before, after }: Pair<JsonObject>, place: string): Generator<string> {
  const allowed = after['enum'];
  const known = before['enum'];
  if (Array.isArray(allowed)) {
    const lost = Array.isArray(known) ? known.filter((value) => !allowed.includes(value)) : ['other values'];
    if (lost.length > 0) yield `${place}: the enum no longer has ${lost.join(', ')}`;
  }
  for (const keyword of LOWER_LIMITS) {
    if (Number(after[keyword] ?? -Infinity) > Number(before[keyword] ?? -Infinity)) yield `${place}: ${keyword} grew`;
  }
  for (const keyword of UPPER_LIMITS) {
    if (Number(after[keyword] ?? Infinity) < Number(before[keyword] ?? Infinity)) yield `${place}: ${keyword} shrank`;
  }
  for (const keyword of FORMS) {
    if (after[keyword] && after[keyword] !== before[keyword]) yield `${place}: ${keyword} changed`;
  }
  if (after['additionalProperties'] === false && before['additionalProperties'] !== false) {
    yield `${place}: further properties are no longer accepted`;
  }
}

function* propertyBreaks(
  comparison: Comparison,
  { before, after }: Pair<JsonObject>,
  place: string,
): Generator<string> {
  const isRequest = comparison.direction === 'request';
  const [olds, nows] = [objectAt(before, 'properties'), objectAt(after, 'properties')];
  for (const [name, property] of Object.entries(olds)) {
    const successor = nows[name];
    if (successor === undefined) yield `${place}: the property ${name} was removed`;
    else {
      yield* directionBreaks(comparison, { before: property, after: successor }, `${place}: the property ${name}`);
      yield* schemaBreaks(comparison, { before: property, after: successor }, `${place} ${name}`);
    }
  }
  const [oldRequired, nowRequired] = [arrayAt(before, 'required'), arrayAt(after, 'required')];
  const added = nowRequired.filter((name) => !oldRequired.includes(name));
  const dropped = oldRequired.filter((name) => !nowRequired.includes(name) && String(name) in nows);
  if (isRequest) for (const name of added) yield `${place}: the property ${name} is required now`;
  else for (const name of dropped) yield `${place}: the property ${name} may be missing now`;
}

/** A property that became readOnly is rejected in requests; one that became writeOnly is missing in responses. */
function* directionBreaks(
  { before, after, direction }: Comparison,
  pair: Pair<Json>,
  place: string,
): Generator<string> {
  const keyword = direction === 'request' ? 'readOnly' : 'writeOnly';
  const was = resolve(before, pair.before)[keyword] === true;
  if (resolve(after, pair.after)[keyword] === true && !was) yield `${place} is ${keyword} now`;
}

const UNIONS = ['oneOf', 'anyOf'];

function isUnion(schema: JsonObject): boolean {
  return UNIONS.some((keyword) => keyword in schema);
}

function becameUnion({ before, after }: Pair<JsonObject>): boolean {
  return isUnion(after) && !isUnion(before) && !('type' in after) && Object.keys(before).length > 0;
}

/**
 * In a request, one alternative must accept what was accepted before. In a response, every alternative must contain
 * what clients relied on.
 */
function* newUnionBreaks(
  comparison: Comparison,
  before: Json | undefined,
  union: JsonObject,
  place: string,
): Generator<string> {
  const members = UNIONS.flatMap((keyword) => arrayAt(union, keyword));
  const breaks = members.map((after) => [...schemaBreaks(comparison, { before, after }, place)]);
  if (comparison.direction === 'response') yield* breaks.flat();
  else if (!breaks.some((found) => found.length === 0))
    yield `${place}: no member of the union accepts what was accepted`;
}

function* unionBreaks(comparison: Comparison, { before, after }: Pair<JsonObject>, place: string): Generator<string> {
  for (const keyword of ['oneOf', 'anyOf', 'allOf']) {
    const successors = arrayAt(after, keyword);
    for (const [index, branch] of arrayAt(before, keyword).entries()) {
      const name = componentName(branch);
      const named = successors.find((other) => name && componentName(other) === name);
      // A scalar is either inlined or a component, depending on how often it is used. A branch without a successor of
      // the same name is therefore compared with the one at its position, unless that is another component.
      const successor = named ?? (name && componentName(successors[index]) ? undefined : successors[index]);
      if (successor)
        yield* schemaBreaks(comparison, { before: branch, after: successor }, `${place} ${keyword} ${index}`);
      else yield `${place}: ${keyword} no longer has ${name ?? `its member ${index}`}`;
    }
  }
}
