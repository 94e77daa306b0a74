import { exec, type JsonValue, query } from 'jsonpath-rfc9535';
import { isRecord } from '../tools/pointer.ts';
import { importError } from './import-error.ts';

type Data = Record<string, unknown>;

interface Place {
  parent: Data | unknown[];
  key: string | number;
}

/**
 * Applies an OpenAPI Overlay (1.0.0, 1.1.0) to a document: its actions in order, each `update`, `copy` or `remove` at every
 * place that `target` selects (RFC 9535). A target that selects nothing is no error (Overlay 1.1 §4.4.3).
 *
 * @param document is changed
 * @param field what the caller calls the overlay, for errors
 * @returns targets that selected nothing, for the report
 * @throws ApiError INVALID_DOCUMENT
 */
export function applyOverlay(document: Data, overlay: unknown, field: string): string[] {
  if (!isRecord(overlay) || !/^1\.[01]\.\d+$/.test(String(overlay['overlay'])) || !Array.isArray(overlay['actions'])) {
    throw importError(field, 'must be an Overlay document of version 1.0 or 1.1');
  }
  return overlay['actions'].flatMap((action, index) => {
    const at = `${field}.actions[${index}]`;
    const target = isRecord(action) ? action['target'] : undefined;
    if (!isRecord(action) || typeof target !== 'string') throw importError(at, 'must have a target');
    const places = placesOf(document, target, at);
    if (action['remove'] === true) remove(places);
    else act(document, action, places, at);
    return places.length === 0 ? [target] : [];
  });
}

function act(document: Data, action: Data, places: Place[], at: string): void {
  if (action['copy'] !== undefined) {
    const sources = select(document, String(action['copy']), `${at}.copy`);
    if (sources.length !== 1) throw importError(`${at}.copy`, `must select exactly one node, not ${sources.length}`);
    const source = structuredClone(sources[0]);
    for (const place of places) put(document, place, source, at);
  }
  if (action['update'] !== undefined) for (const place of places) put(document, place, action['update'], at);
}

function placesOf(document: Data, target: string, at: string): Place[] {
  const places: Place[] = [];
  try {
    exec(document as JsonValue, target, (_, path) => places.push(placeOf(document, path)));
  } catch (error) {
    throw importError(
      `${at}.target`,
      `is no JSONPath: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
  return places;
}

function select(document: Data, path: string, at: string): unknown[] {
  try {
    return query(document as JsonValue, path);
  } catch (error) {
    throw importError(at, `is no JSONPath: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

/** The root stands in a holder of its own, so that it has a parent as everything else. */
function placeOf(document: Data, path: readonly (string | number)[]): Place {
  let place: Place = { parent: { root: document }, key: 'root' };
  for (const segment of path) {
    const key = typeof segment === 'number' ? segment : plainKey(segment);
    place = { parent: valueAt(place) as Data | unknown[], key };
  }
  return place;
}

/** The library gives keys as a normalised path writes them (RFC 9535 §2.7). */
function plainKey(key: string): string {
  const controls: Record<string, string> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r' };
  return key.replace(/\\(?:u([0-9a-f]{4})|(.))/g, (_, hex?: string, character = '') =>
    hex === undefined ? (controls[character] ?? character) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function valueAt({ parent, key }: Place): unknown {
  return (parent as Record<string | number, unknown>)[key];
}

/** From the last to the first, so that the places of a list keep their indices. */
function remove(places: Place[]): void {
  for (const { parent, key } of places.toReversed()) {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete parent[key];
  }
}

/** Objects are merged, lists get the value as further items, anything else is replaced (Overlay 1.1 §4.4.3.1). */
function put(document: Data, place: Place, update: unknown, at: string): void {
  const value = valueAt(place);
  const copy = structuredClone(update);
  if (Array.isArray(value)) value.push(...(Array.isArray(copy) ? copy : [copy]));
  else if (isRecord(value) && isRecord(copy)) merge(value, copy);
  else if (value === document) throw importError(at, 'must update the document with an object');
  else (place.parent as Record<string | number, unknown>)[place.key] = copy;
}

function merge(target: Data, update: Data): void {
  for (const [key, value] of Object.entries(update)) {
    const present = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isRecord(present) && isRecord(value)) merge(present, value);
    else if (Array.isArray(present) && Array.isArray(value)) present.push(...value);
    else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  }
}
