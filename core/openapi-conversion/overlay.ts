import { PatternBudgetError } from '../connectors/linear-pattern.ts';
import { isRecord } from '../tools/pointer.ts';
import { importError } from './import-error.ts';
import { type PathNode, selectNodes } from './json-path.ts';
import { LOAD_LIMITS } from './load.ts';
import { type PathWork, PathWorkError } from './path-work.ts';

type Data = Record<string, unknown>;

/**
 * Applies an OpenAPI Overlay (1.0 or 1.1) to a document. Its actions run in order. Each applies its `remove`, or its
 * `copy` and then its `update`, at every place that its `target` selects (RFC 9535). A target that selects nothing is
 * not an error (Overlay 1.1 §4.4.3).
 *
 * @param document is changed
 * @param field the name of the overlay in errors
 * @param work limits the cost of all overlays of one import
 * @returns targets that selected nothing, for the report
 * @throws ApiError INVALID_DOCUMENT if the overlay is invalid, costs more than `work` allows, or nests the document too
 *   deeply; the document may then be partly changed
 */
export function applyOverlay(document: Data, overlay: unknown, field: string, work: PathWork): string[] {
  if (!isRecord(overlay) || !/^1\.[01]\.\d+$/.test(String(overlay['overlay'])) || !Array.isArray(overlay['actions'])) {
    throw importError(field, 'must be an Overlay document of version 1.0 or 1.1 with a list of actions');
  }
  return overlay['actions'].flatMap((action, index) => {
    const at = `${field}.actions[${index}]`;
    const target = isRecord(action) ? action['target'] : undefined;
    if (!isRecord(action) || typeof target !== 'string')
      throw importError(at, 'must have a target: a JSONPath expression');
    const places = select(document, target, `${at}.target`, work);
    try {
      if (action['remove'] === true) remove(places);
      else act(document, action, places, at, work);
    } catch (error) {
      if (error instanceof PathWorkError) throw tooMuchWork(at, error);
      throw error;
    }
    return places.length === 0 ? [target] : [];
  });
}

function act(document: Data, action: Data, places: readonly PathNode[], at: string, work: PathWork): void {
  const put = (update: unknown) => {
    for (const place of places) {
      if (place.value === document && !isRecord(update))
        throw importError(at, 'must have an object as update or copy, because its target is the whole document');
      putAt(place, copyOf(update, place.depth, at, work));
    }
  };
  if (action['copy'] !== undefined) {
    const sources = select(document, String(action['copy']), `${at}.copy`, work);
    const [source] = sources;
    if (!source || sources.length > 1)
      throw importError(`${at}.copy`, `must select exactly one node, not ${sources.length}`);
    // The source is copied before it is merged, because a source that contains the target changes during the merge.
    put(copyOf(source.value, 0, at, work));
  }
  if (action['update'] !== undefined) put(action['update']);
}

function select(document: Data, path: string, at: string, work: PathWork): PathNode[] {
  try {
    return selectNodes(document, path, work);
  } catch (error) {
    if (error instanceof PathWorkError || error instanceof PatternBudgetError) throw tooMuchWork(at, error);
    const reason = error instanceof Error ? error.message : String(error);
    throw importError(at, `must be a supported JSONPath expression: ${reason}`, error);
  }
}

function tooMuchWork(at: string, cause: Error): Error {
  return importError(at, 'selects too many nodes: select fewer, or use simpler patterns', cause);
}

/**
 * Copies a value for a target of an overlay.
 *
 * @param depth the depth of the target: overlays must not nest a document deeper than `loadDocument` allows
 */
function copyOf(value: unknown, depth: number, at: string, work: PathWork): unknown {
  work.step();
  if (depth > LOAD_LIMITS.depth) throw importError(at, `nests the document more than ${LOAD_LIMITS.depth} levels`);
  if (Array.isArray(value)) return value.map((item) => copyOf(item, depth + 1, at, work));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copyOf(item, depth + 1, at, work)]));
}

function remove(places: readonly PathNode[]): void {
  const lists = new Map<unknown[], Set<unknown>>();
  for (const { parent, key } of places) {
    if (Array.isArray(parent)) lists.set(parent, (lists.get(parent) ?? new Set()).add(key));
    else delete parent[key];
  }
  for (const [list, indices] of lists) {
    const kept = list.filter((_, index) => !indices.has(index));
    list.length = 0;
    append(list, kept);
  }
}

/** Merges objects, appends to lists and replaces anything else (Overlay 1.1 §4.4.3.1). */
function putAt({ parent, key }: PathNode, update: unknown): void {
  const value = (parent as Record<string | number, unknown>)[key];
  if (Array.isArray(value)) append(value, Array.isArray(update) ? update : [update]);
  else if (isRecord(value) && isRecord(update)) merge(value, update);
  else define(parent, key, update);
}

function merge(target: Data, update: Data): void {
  for (const [key, value] of Object.entries(update)) {
    const present = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isRecord(present) && isRecord(value)) merge(present, value);
    else if (Array.isArray(present) && Array.isArray(value)) append(present, value);
    else define(target, key, value);
  }
}

/** Appends one by one, because a function call accepts only about a hundred thousand arguments. */
function append(list: unknown[], items: readonly unknown[]): void {
  for (const item of items) list.push(item);
}

/** Sets a member, even if its name is `__proto__`. */
function define(target: object, key: string | number, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
