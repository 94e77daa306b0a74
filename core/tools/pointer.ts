/** The unescaped segments of a JSON pointer (RFC 6901 §4); none for the whole document. */
export function pointerSegments(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value a JSON pointer names, own members only; undefined where there is none. */
export function atPointer(document: unknown, pointer: string): unknown {
  let value = document;
  for (const segment of pointerSegments(pointer)) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(segment)) return undefined;
    value = Object.hasOwn(value, segment) ? (value as Record<string, unknown>)[segment] : undefined;
  }
  return value;
}

/**
 * A copy of a document of objects with one value put at a pointer; missing parents are made.
 *
 * @throws Error when a parent is there and is not an object
 */
export function withPointer(document: unknown, pointer: string, value: unknown): unknown {
  const [head, ...rest] = pointerSegments(pointer);
  if (head === undefined) return value;
  const parent = document === undefined ? {} : document;
  if (!isRecord(parent)) throw new Error(`No object to put ${pointer} into`);
  const below = withPointer(Object.hasOwn(parent, head) ? parent[head] : undefined, asPointer(rest), value);
  return Object.fromEntries([...Object.entries(parent).filter(([key]) => key !== head), [head, below]]);
}

/** The text of a URI fragment; one that is not encoded correctly is used unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** True for a JSON object: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asPointer(segments: string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
