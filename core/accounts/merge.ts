import { STORED } from '../budgets.ts';
import { ApiError } from '../errors.ts';

export type JsonObject = { [key: string]: unknown };

const { apiConfigLevels: MAX_DEPTH, apiConfigKeys: MAX_KEYS, apiConfigBytes: MAX_BYTES } = STORED;

/** Keys that reach an object's prototype in some language or library. They are never stored. */
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const RESERVED = 'is not an allowed key: __proto__, constructor and prototype are reserved';

/**
 * Merges a change into an `api_config` (JSON Merge Patch, RFC 7396): objects merge deeply, `null` removes a key,
 * everything else replaces. Neither argument is modified.
 *
 * @param current the stored configuration
 * @param change the configuration in the request
 * @param field the name of the configuration in errors
 * @returns the merged configuration; the objects that this function creates for it have no prototype
 * @throws ApiError INVALID_API_CONFIG for a forbidden key, more than 16 levels, 512 keys or 64 KiB
 */
export function mergeConfig(current: JsonObject, change: JsonObject, field: string): JsonObject {
  const merged = mergeObject(current, change, field, 1);
  const keys = countKeys(merged);
  if (keys > MAX_KEYS) refuse(field, `must not have more than ${MAX_KEYS} keys`);
  if (Buffer.byteLength(JSON.stringify(merged)) > MAX_BYTES)
    refuse(field, `must not be larger than ${MAX_BYTES} bytes`);
  return merged;
}

function mergeObject(current: JsonObject, change: JsonObject, path: string, depth: number): JsonObject {
  if (depth > MAX_DEPTH) refuse(path, `must not be nested deeper than ${MAX_DEPTH} levels`);
  const merged: JsonObject = Object.assign(Object.create(null), current);
  for (const [key, value] of Object.entries(change)) {
    if (FORBIDDEN_KEYS.has(key)) refuse(`${path}.${key}`, RESERVED);
    if (value === null) delete merged[key];
    else if (isObject(value)) {
      const below = merged[key];
      merged[key] = mergeObject(isObject(below) ? below : {}, value, `${path}.${key}`, depth + 1);
    } else merged[key] = Array.isArray(value) ? cleanArray(value, `${path}.${key}`, depth + 1) : value;
  }
  return merged;
}

/**
 * Returns a copy of an array in the change, which replaces the stored value as a whole. The rules for objects also
 * apply to the objects in the array, but a `null` item is kept.
 */
function cleanArray(items: unknown[], path: string, depth: number): unknown[] {
  if (depth > MAX_DEPTH) refuse(path, `must not be nested deeper than ${MAX_DEPTH} levels`);
  return items.map((item, index) => {
    if (Array.isArray(item)) return cleanArray(item, `${path}[${index}]`, depth + 1);
    return isObject(item) ? mergeObject({}, item, `${path}[${index}]`, depth + 1) : item;
  });
}

function countKeys(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + countKeys(item), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce((sum: number, item) => sum + 1 + countKeys(item), 0);
}

/** True for a JSON object: neither an array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(field: string, message: string): never {
  throw new ApiError('INVALID_API_CONFIG', 'The API configuration is invalid.', { errors: [{ field, message }] });
}
