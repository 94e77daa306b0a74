import { isRecord, pointerSegments } from './pointer.ts';

/**
 * Copies a value and replaces the values at some paths. Missing paths are ignored.
 *
 * @param places JSON pointers in which the segment `*` matches each item of a list, or each member of an object. Other
 * segments match no item of a list, even if they are an index. The pointers are relative to the value, or to each item
 * if the value is a list
 * @param replace receives a value and its JSON pointer; returns the new value
 */
export function replaceAt(
  value: unknown,
  places: readonly string[],
  replace: (value: unknown, pointer: string) => unknown,
): unknown {
  return places.reduce<unknown>((whole, place) => {
    const segments = pointerSegments(place);
    return step(whole, Array.isArray(whole) ? ['*', ...segments] : segments, '', replace);
  }, value);
}

function step(
  value: unknown,
  [head, ...rest]: readonly string[],
  pointer: string,
  replace: (value: unknown, pointer: string) => unknown,
): unknown {
  if (head === undefined) return value === undefined ? value : replace(value, pointer);
  const below = (item: unknown, key: string | number) =>
    step(item, rest, `${pointer}/${escaped(String(key))}`, replace);
  if (Array.isArray(value)) return head === '*' ? value.map(below) : value;
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, head === '*' || head === key ? below(item, key) : item]),
  );
}

function escaped(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}
