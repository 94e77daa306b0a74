/** The size of a JSON text after parsing. */
export interface JsonExtent {
  /** The number of values, counted by commas and brackets: an empty list or object counts as if it had one value. */
  nodes: number;
  /** The deepest nesting of lists and objects; 0 for a text without any. */
  levels: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Counts the values and levels of a JSON text without parsing it. Parsing could take far more time and memory, because
 * it can create an object for every few bytes. For bytes that are not JSON, the counts are meaningless but take no
 * longer.
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
