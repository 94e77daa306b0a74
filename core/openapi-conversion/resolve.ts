import { atPointer, isRecord, percentDecoded } from '../tools/pointer.ts';

type Data = Record<string, unknown>;

/**
 * Returns the object for a node: the node itself, or the target of its `$ref`. Only local references are followed.
 * Returns undefined for a reference that is circular or has no target, and for any value that is not an object.
 */
export type Resolver = (node: unknown) => Data | undefined;

const MAX_HOPS = 20;

export function createResolver(document: Data): Resolver {
  const known = new Map<string, unknown>();
  const find = (reference: string): unknown => {
    if (!reference.startsWith('#')) return undefined;
    if (!known.has(reference)) known.set(reference, atPointer(document, percentDecoded(reference.slice(1))));
    return known.get(reference);
  };
  return (node) => {
    let target = node;
    for (let hop = 0; hop < MAX_HOPS; hop++) {
      if (!isRecord(target)) return undefined;
      const reference = referenceOf(target);
      if (reference === undefined) return target;
      target = find(reference);
    }
    return undefined;
  };
}

/** Returns the reference of a node. A property may also be named $ref; then its value is not a string. */
export function referenceOf(node: Data): string | undefined {
  return typeof node['$ref'] === 'string' ? node['$ref'] : undefined;
}
