export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** An operation with its place in the document. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly definition: JsonObject;
}

/** A body of an operation: `side` is `request` or the status of the response. */
export interface Body {
  readonly side: string;
  readonly mediaType: string;
  readonly media: JsonObject;
}

/** An event that the document declares. */
export interface DeclaredEvent {
  readonly type: string;
  readonly definition: JsonObject;
  /** The media type object of its body, with the schema of the whole event. */
  readonly media: JsonObject;
  /** A JSON pointer (RFC 6901) to the subject in its data. */
  readonly subject: string;
}

/** The members of a path item that are operations. */
export const METHODS: ReadonlySet<string> = new Set([
  'get',
  'put',
  'post',
  'delete',
  'options',
  'head',
  'patch',
  'trace',
]);

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a member that is an object; an empty object if it is absent. */
export function objectAt(holder: JsonObject, key: string): JsonObject {
  const value = holder[key];
  return isObject(value) ? value : {};
}

/** Returns a member that is an array; an empty array if it is absent. */
export function arrayAt(holder: JsonObject, key: string): Json[] {
  const value = holder[key];
  return Array.isArray(value) ? value : [];
}

/**
 * Returns an object with its local `$ref` replaced by the target. Keywords next to `$ref`, such as a description,
 * override those of the target. References inside the object are not replaced. For a value that is not an object, it
 * returns an empty object.
 *
 * @throws Error if the reference has no target
 */
export function resolve(document: JsonObject, value: Json | undefined): JsonObject {
  if (!isObject(value)) return {};
  const { $ref: reference, ...beside } = value;
  if (typeof reference !== 'string') return value;
  const target = reference
    .slice('#/'.length)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<Json | undefined>((node, part) => (isObject(node) ? node[part] : undefined), document);
  if (!isObject(target)) throw new Error(`${reference} leads nowhere`);
  return { ...resolve(document, target), ...beside };
}

/** Returns every operation, in the order of the document. */
export function operationsOf(document: JsonObject): Operation[] {
  return Object.entries(objectAt(document, 'paths')).flatMap(([path, item]) =>
    Object.entries(resolve(document, item))
      .filter(([method, definition]) => METHODS.has(method) && isObject(definition))
      .map(([method, value]) => {
        const definition = value as JsonObject;
        return { id: String(definition['operationId'] ?? `${method} ${path}`), method, path, definition };
      }),
  );
}

/** Returns the request and response bodies of an operation, one entry per media type. */
export function bodiesOf(document: JsonObject, { definition }: Operation): Body[] {
  const holders: [string, Json | undefined][] = [
    ['request', definition['requestBody']],
    ...Object.entries(objectAt(definition, 'responses')),
  ];
  return holders.flatMap(([side, holder]) =>
    Object.entries(objectAt(resolve(document, holder), 'content')).map(([mediaType, media]) => ({
      side,
      mediaType,
      media: resolve(document, media),
    })),
  );
}

/** Returns the parameters of an operation, with references resolved. */
export function parametersOf(document: JsonObject, { definition }: Operation): JsonObject[] {
  return arrayAt(definition, 'parameters').map((parameter) => resolve(document, parameter));
}

/** Returns every event, in the order of the document. */
export function eventsOf(document: JsonObject): DeclaredEvent[] {
  return Object.entries(objectAt(document, 'webhooks')).map(([type, item]) => {
    const definition = objectAt(resolve(document, item), 'post');
    const content = objectAt(resolve(document, definition['requestBody']), 'content');
    const media = objectAt(content, 'application/json');
    return { type, definition, media, subject: String(definition['x-subject'] ?? '') };
  });
}
