/** How much a JSON text becomes when it is parsed. */
export interface JsonExtent {
  /** Values: every one but the first of a list or object follows a comma. */
  nodes: number;
  /** Lists and objects within each other. */
  levels: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Counts the values and levels of a JSON text without parsing it: a parser makes an object of every few bytes, which takes more time and
 * memory than the text itself. For bytes that are not JSON the counts mean nothing, and are found in the same time.
 *
 * @param json UTF-8
 */
export function jsonExtent(json: Uint8Array): JsonExtent {
  const { length } = json;
  let nodes = 1;
  let level = 0;
  let levels = 0;
  for (let at = 0; at < length; at++) {
    const byte = json[at] as number;
    if (byte === QUOTE) {
      for (at++; at < length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++;
    } else if (byte === 0x2c) {
      nodes++;
    } else if (byte === 0x7b || byte === 0x5b) {
      nodes++;
      level++;
      if (level > levels) levels = level;
    } else if (byte === 0x7d || byte === 0x5d) {
      level--;
    }
  }
  return { nodes, levels };
}
