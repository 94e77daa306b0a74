/** Returns the unescaped segments of a JSON pointer (RFC 6901 §4); empty for the whole document. */
export function pointerSegments(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the value at a JSON pointer, using own members only; undefined if there is none. */
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
 * Returns a copy of a document with a value set at a pointer. Missing parents are created.
 *
 * @throws Error if a parent exists and is not an object
 */
export function withPointer(document: unknown, pointer: string, value: unknown): unknown {
  const [head, ...rest] = pointerSegments(pointer);
  if (head === undefined) return value;
  const parent = document === undefined ? {} : document;
  if (!isRecord(parent)) throw new Error(`No object to put ${pointer} into`);
  const below = withPointer(Object.hasOwn(parent, head) ? parent[head] : undefined, asPointer(rest), value);
  return Object.fromEntries([...Object.entries(parent).filter(([key]) => key !== head), [head, below]]);
}

/** Decodes the text of a URI fragment; a text that is not encoded correctly is returned unchanged. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether a value is a JSON object: neither null nor a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asPointer(segments: string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
