import type { Json, JsonObject } from './openapi-document.ts';
import { isObject, objectAt } from './openapi-document.ts';

const PREFIX = '#/components/schemas/';

/**
 * Replaces references to components that are only another name for a scalar or a list by the referenced schema.
 * Objects, unions, and enums that are used more than once stay components, because generated clients get a type for
 * each. Keywords next to `$ref`, such as a description, take precedence.
 *
 * @param document a bundled contract without recursive schemas; it is not changed
 */
export function inlineAliases(document: JsonObject): JsonObject {
  const schemas = objectAt(objectAt(document, 'components'), 'schemas');
  const uses = countReferences(document);
  const aliases = new Map(
    Object.entries(schemas).filter(
      (entry): entry is [string, JsonObject] => isObject(entry[1]) && isAlias(entry[1], uses.get(entry[0]) ?? 0),
    ),
  );
  const inlined = replace(document, aliases) as JsonObject;
  const components = objectAt(inlined, 'components');
  const kept = Object.entries(objectAt(components, 'schemas')).filter(([name]) => !aliases.has(name));
  if (kept.length === Object.keys(schemas).length) return document;
  return { ...inlined, components: { ...components, schemas: Object.fromEntries(kept) } };
}

function isAlias(schema: JsonObject, uses: number): boolean {
  const isComposed = ['properties', 'oneOf', 'anyOf', 'allOf', 'not', '$ref'].some((keyword) => keyword in schema);
  if (isComposed || !('type' in schema) || [schema['type']].flat().includes('object')) return false;
  return !('enum' in schema) || uses < 2;
}

function countReferences(document: JsonObject): Map<string, number> {
  const uses = new Map<string, number>();
  replaceReferences(document, (name, reference) => {
    uses.set(name, (uses.get(name) ?? 0) + 1);
    return reference;
  });
  return uses;
}

function replace(node: Json, aliases: ReadonlyMap<string, JsonObject>): Json {
  return replaceReferences(node, (name, { $ref, ...beside }) => {
    const target = aliases.get(name);
    return target === undefined
      ? ({ $ref, ...beside } as JsonObject)
      : { ...(replace(target, aliases) as JsonObject), ...beside };
  });
}

/** Returns a copy in which each reference to a schema is replaced. */
function replaceReferences(node: Json, change: (name: string, reference: JsonObject) => Json): Json {
  if (Array.isArray(node)) return node.map((item) => replaceReferences(item, change));
  if (!isObject(node)) return node;
  const reference = node['$ref'];
  if (typeof reference === 'string' && reference.startsWith(PREFIX))
    return change(reference.slice(PREFIX.length), node);
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, replaceReferences(value, change)]));
}
