import type { Page, PageRequest } from '../../db/page.ts';
import { LIST } from '../budgets.ts';
import type { KnownTool } from '../discovery/directory.ts';
import { readWithin } from '../discovery/read-within.ts';
import { shortened } from '../paging.ts';
import type { ToolView } from './tool.ts';

/**
 * Reads and presents the tools of a page in order. A page of tools with their schemas ends early at the maximum size of
 * a response; the next page begins with the tool that follows.
 *
 * @param page rows whose ids are the names of tools; rows whose tools were deleted have no item
 */
export async function presentToolPage<Row extends { id: string }, T>(
  page: Page<Row>,
  request: PageRequest,
  view: ToolView,
  find: (name: string) => Promise<KnownTool | undefined>,
  present: (known: KnownTool, row: Row) => T,
): Promise<{ page: Page<Row>; tools: T[] }> {
  const isBackward = request.before !== undefined;
  const { items, taken } = await readWithin(
    isBackward ? page.rows.toReversed() : page.rows,
    async (row) => {
      const known = await find(row.id);
      return known && { item: present(known, row), tool: known.tool };
    },
    maxBytesOf(view),
  );
  return { page: shortened(page, request, taken), tools: isBackward ? items.reverse() : items };
}

/**
 * Returns the maximum total size of the tools in one response, in bytes; infinite for a view without schemas, which is
 * always small.
 */
export function maxBytesOf({ format, detail }: ToolView): number {
  return format === 'native' && detail === 'compact' ? Number.POSITIVE_INFINITY : LIST.toolsBytes;
}
