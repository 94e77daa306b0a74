import { note } from '../output/print.ts';

const PAGE_SIZE = 100;

/** A page of a list, as the API returns it. */
export interface Page<Item> {
  items: readonly Item[];
  next_page_token: string;
  total_size: number;
}

/**
 * Reads the pages of a list until there are enough items, and says on standard error when there are more.
 *
 * @param read returns one page
 */
export async function readPages<Item>(
  { limit, all }: { limit: number; all?: true | undefined },
  read: (query: { page_size: number; page_token?: string }) => Promise<Page<Item>>,
): Promise<Item[]> {
  const wanted = all ? Number.POSITIVE_INFINITY : limit;
  const items: Item[] = [];
  let token = '';
  let total = 0;
  do {
    const page_size = Math.min(PAGE_SIZE, wanted - items.length);
    const page = await read({ page_size, ...(token && { page_token: token }) });
    items.push(...page.items);
    [token, total] = [page.next_page_token, page.total_size];
  } while (token !== '' && items.length < wanted);
  if (token !== '') note`${items.length} of ${total} are shown; --limit or --all shows more.`;
  return items;
}
