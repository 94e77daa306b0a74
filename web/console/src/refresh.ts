import type { Query, QueryClient } from '@tanstack/react-query';

/** A list with at most this many pages is read again as a whole after an action of the operator. */
const FEW_PAGES = 3;

/**
 * Reads data on the current page again, and marks other cached data as outdated. Of lists, only the first page is read
 * again, by a separate query, so that a change costs one request however far the list was scrolled.
 *
 * @param kinds parts of the keys of the queries; by default all queries
 * @param options.lists reads short lists again as a whole, because a row that is not on the first page may have changed
 * @throws the error of a request that failed
 */
export function refresh(
  queries: QueryClient,
  kinds?: ReadonlySet<unknown>,
  { lists = false }: { lists?: boolean } = {},
): Promise<void> {
  const isMeant = (query: Query) => {
    if (kinds && !query.queryKey.some((part) => kinds.has(part))) return false;
    return !query.meta?.['isList'] || (lists && pagesOf(query) <= FEW_PAGES);
  };
  return queries.invalidateQueries({ predicate: isMeant }, { throwOnError: true });
}

function pagesOf({ state: { data } }: Query): number {
  return (data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0;
}
