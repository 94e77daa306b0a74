import { createTurns } from '../scheduling/turns.ts';
import type { Tool } from '../tools/tool.ts';

const sizes = new WeakMap<Tool, number>();

/** The size of a tool as JSON, in UTF-16 code units. */
export function sizeOfTool(tool: Tool): number {
  const known = sizes.get(tool);
  if (known !== undefined) return known;
  const size = JSON.stringify(tool).length;
  sizes.set(tool, size);
  return size;
}

/**
 * Reads the tools of some rows in order, until their total size reaches `maxSize`; the last tool may exceed it. A tool
 * can have 128 KiB of schemas, and a response with hundreds of them would block the event loop.
 *
 * @param read returns undefined for a row whose tool was deleted; the size of `tool` as JSON counts towards the limit
 * @returns the items, and the number of rows that were read, including those whose tool was deleted; at least one row
 * is read, if there is any
 */
export async function readWithin<Row, T>(
  rows: readonly Row[],
  read: (row: Row) => Promise<{ item: T; tool: Tool } | undefined>,
  maxSize: number,
): Promise<{ items: T[]; taken: number }> {
  const items: T[] = [];
  const turn = createTurns();
  let size = 0;
  for (const [index, row] of rows.entries()) {
    const found = await read(row);
    if (!found) continue;
    items.push(found.item);
    size += sizeOfTool(found.tool);
    if (size >= maxSize) return { items, taken: index + 1 };
    await turn(sizeOfTool(found.tool));
  }
  return { items, taken: rows.length };
}
