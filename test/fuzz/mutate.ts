import type { Json, JsonObject } from '../../scripts/openapi-document.ts';
import { HOSTILE_TEXTS, HOSTILE_VALUES } from './hostile.ts';
import type { Random } from './random.ts';

/** Changes a valid body one to three times: replaces, wraps or doubles a value, or removes or adds a member. */
export function mutate(body: JsonObject, random: Random): JsonObject {
  const copy = structuredClone(body);
  for (let times = 1 + random.below(3); times > 0; times--) mutateOnce(pickObject(copy, random), random);
  return copy;
}

function mutateOnce(target: JsonObject, random: Random): void {
  const keys = Object.keys(target);
  const key = keys.length > 0 ? random.pick(keys) : 'added';
  switch (random.below(6)) {
    case 0:
      target[key] = random.pick(HOSTILE_TEXTS);
      break;
    case 1:
      target[key] = hostileValue(random);
      break;
    case 2:
      delete target[key];
      break;
    case 3:
      define(target, random.pick(HOSTILE_TEXTS), hostileValue(random));
      break;
    case 4:
      target[key] = { [key]: target[key] ?? null };
      break;
    default:
      target[key] = [target[key] ?? null, target[key] ?? null];
  }
}

/** Returns a copy, so that a value in one body does not change with another body. */
function hostileValue(random: Random): Json {
  return structuredClone(random.pick(HOSTILE_VALUES)) as Json;
}

/** A plain assignment of `__proto__` would set the prototype and would not be sent. */
function define(target: JsonObject, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function pickObject(body: JsonObject, random: Random): JsonObject {
  let at = body;
  while (random.chance(0.6)) {
    const children = Object.values(at).filter((value) => typeof value === 'object' && value && !Array.isArray(value));
    if (children.length === 0) break;
    at = random.pick(children) as JsonObject;
  }
  return at;
}
