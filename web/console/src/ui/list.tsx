import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { RowData } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo } from 'react';
import { CanBreak } from './breakable.tsx';
import { formatNumber } from './format.ts';
import { Cells, type Columns, HeadRow, useFit, useGrid } from './grid.tsx';
import { Button, Loading, Trouble } from './parts.tsx';

export interface ListPage<T> {
  rows: readonly T[];
  next: string;
  total: number;
  isLowerBound?: boolean | undefined;
}

interface ListProps<T extends RowData> {
  label: string;
  queryKey: readonly unknown[];
  load(token: string | undefined): Promise<ListPage<T>>;
  columns: Columns<T>;
  rowKey(row: T): string;
  /** The address of a row. */
  rowHref?(row: T): string;
  empty: ReactNode;
  /** Whether cells may have several lines. */
  wraps?: boolean;
}

const ROW_PX = 44;
const STACKED_LINE_PX = 28;
/** The next page is requested when fewer than this many loaded rows follow the rows in the document. */
const AHEAD = 30;

/**
 * A list of any length: only the visible rows and a few beside them are in the document, and pages are loaded when they
 * are needed. Where its columns do not fit, each row is a block of its cells, with the heads of their columns. The
 * first page also has its own query, which is kept current. Changes appear immediately while the list is at its top. If
 * it is scrolled, a button shows them, so that rows do not move.
 */
export function List<T extends RowData>({ wraps = false, ...props }: ListProps<T>) {
  const { label, queryKey, load, columns, rowKey, rowHref, empty } = props;
  const queries = useQueryClient();
  const headKey = [...queryKey, 'first page'];
  const query = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    async queryFn({ pageParam }) {
      const page = await load(pageParam);
      if (pageParam === undefined) queries.setQueryData(headKey, page);
      return page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next || undefined,
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing every row of every page would take longer with each page.
    structuralSharing: false,
    meta: { isList: true },
  });
  const head = useQuery({ queryKey: headKey, queryFn: () => load(undefined), enabled: query.isSuccess });
  const pages = query.data?.pages;
  const rows = useMemo(() => pages?.flatMap((page) => page.rows) ?? [], [pages]);
  const fit = useFit(columns, rows);
  const { columnVisibility, isNarrow, gridTemplateColumns, frame, measureFrame } = fit;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    // The key keeps the measured height of a row when rows are added before it.
    getItemKey: (index) => (rows[index] === undefined ? index : rowKey(rows[index])),
    estimateSize: () => (isNarrow ? STACKED_LINE_PX * (columns.length + 1) : ROW_PX),
    overscan: 12,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sizes of the other layout are forgotten
  useEffect(() => virtual.measure(), [virtual, isNarrow]);
  const isMeasured = isNarrow || wraps;
  const visible = virtual.getVirtualItems();
  const firstIndex = visible[0]?.index ?? 0;
  const lastIndex = visible.at(-1)?.index ?? -1;
  // Only the rows in the document are in the model. A model of 100,000 rows would take 160 ms after each loaded page.
  const shown = useMemo(() => rows.slice(firstIndex, lastIndex + 1), [rows, firstIndex, lastIndex]);
  const table = useGrid({ columns, rows: shown, rowKey, columnVisibility });
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query;
  // After a failure, only the operator requests the page again, because automatic requests would fail again and again.
  const isNextWanted = hasNextPage && !isFetchingNextPage && !isFetchNextPageError && lastIndex >= rows.length - AHEAD;
  useEffect(() => {
    if (isNextWanted) void fetchNextPage();
  }, [isNextWanted, fetchNextPage]);

  const isChanged = head.data !== undefined && pages !== undefined && head.data !== pages[0] && !query.isFetching;
  const show = () => {
    if (!head.data) return;
    frame.current?.scrollTo({ top: 0 });
    queries.setQueryData([...queryKey, 'pages'], { pages: [head.data], pageParams: [undefined] });
  };
  const isAtTop = (virtual.scrollOffset ?? 0) === 0;
  useEffect(() => {
    if (isChanged && isAtTop) show();
  });
  const navigate = useNavigate();

  if (query.error && !isFetchNextPageError) return <Trouble error={query.error} />;
  if (!query.data) return <Loading />;
  if (rows.length === 0) return empty;
  const last = query.data.pages.at(-1);
  const open = (row: T) => rowHref && void navigate({ to: rowHref(row) });
  return (
    <>
      <p className="count" role="status">
        {last?.isLowerBound && 'more than '}
        {formatNumber(last?.total ?? rows.length)} {last?.total === 1 ? 'entry' : 'entries'}
        {isChanged && !isAtTop && (
          <button type="button" className="button plain" onClick={show}>
            Show changes
          </button>
        )}
      </p>
      <div
        className={`list${isNarrow ? ' stacked' : ''}${wraps ? ' wraps' : ''}`}
        ref={measureFrame}
        role="region"
        aria-label={`${label}, scrollable`}
        tabIndex={0}
      >
        <div role="table" aria-label={label} aria-rowcount={hasNextPage ? -1 : rows.length + 1}>
          <HeadRow table={table} fit={fit} />
          <div role="rowgroup" className="rows" style={{ height: virtual.getTotalSize() }}>
            <CanBreak value={isMeasured}>
              {table.getRowModel().rows.map((row) => {
                const index = firstIndex + row.index;
                return (
                  <div
                    role="row"
                    key={row.id}
                    ref={isMeasured ? virtual.measureElement : undefined}
                    data-index={index}
                    className={rowHref ? 'row link' : 'row'}
                    style={{ gridTemplateColumns, transform: `translateY(${visible[row.index]?.start}px)` }}
                    aria-rowindex={index + 2}
                    tabIndex={rowHref ? 0 : undefined}
                    onClick={() => open(row.original)}
                    onKeyDown={(event) => onRowKey(event, () => open(row.original))}
                  >
                    <Cells row={row} />
                  </div>
                );
              })}
            </CanBreak>
          </div>
        </div>
      </div>
      {isFetchingNextPage && <Loading />}
      {isFetchNextPageError && !isFetchingNextPage && (
        <>
          <Trouble error={query.error} />
          <div className="actions">
            <Button onClick={() => void fetchNextPage()}>Load more</Button>
          </div>
        </>
      )}
    </>
  );
}

/** Enter opens a row; the arrows move between rows. */
function onRowKey(event: KeyboardEvent<HTMLDivElement>, open: () => void): void {
  if (event.target !== event.currentTarget) return;
  const { currentTarget: row } = event;
  const other = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
  if (event.key === 'Enter') open();
  if (other instanceof HTMLElement) {
    event.preventDefault();
    other.focus();
  }
}
