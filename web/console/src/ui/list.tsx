import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { Breakable, CanBreak } from './breakable.tsx';
import { formatNumber } from './format.ts';
import { Loading, Trouble } from './parts.tsx';

export interface Column<T> {
  head: string;
  /** The smallest width, in rem. */
  min: number;
  /** The share of the width that is left; 0 for a column that does not grow. */
  grow: number;
  cell(row: T): ReactNode;
  /** For a column that is left out while no loaded row has a value in it. */
  hasValue?(row: T): boolean;
}

export interface ListPage<T> {
  rows: readonly T[];
  next: string;
  total: number;
  isLowerBound?: boolean | undefined;
}

interface ListProps<T> {
  label: string;
  queryKey: readonly unknown[];
  load(token: string | undefined): Promise<ListPage<T>>;
  columns: readonly Column<T>[];
  rowKey(row: T): string;
  /** The address of a row. */
  rowHref?(row: T): string;
  empty: ReactNode;
}

const ROW_PX = 44;
const GAP_REM = 0.75;
/** The width of a scroll bar and of the borders. */
const SCROLLBAR_REM = 1.5;
const STACKED_LINE_PX = 28;
/** Rows before the end of the loaded ones at which the next page is requested. */
const AHEAD = 30;

/**
 * A list of any length: only visible rows are in the document, and pages are loaded when they are needed. Where its
 * columns do not fit, each row is a block of its cells, with the heads of their columns. The first page also has its own
 * query, which is kept current. Changes appear immediately at the top of the list; further down the user is offered to
 * show them, so that rows do not move.
 */
export function List<T>({ label, queryKey, load, columns: all, rowKey, rowHref, empty }: ListProps<T>) {
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
  const columns = all.filter(({ hasValue }) => !hasValue || rows.some(hasValue));
  const frame = useRef<HTMLDivElement | null>(null);
  const [width, measureFrame] = useWidth(frame);
  const neededRem = columns.reduce((sum, { min }) => sum + min + GAP_REM, GAP_REM + SCROLLBAR_REM);
  const isNarrow = width < neededRem * remPx();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    // The measured height of a row moves with it when rows are added before it.
    getItemKey: (index) => (rows[index] === undefined ? index : rowKey(rows[index])),
    estimateSize: () => (isNarrow ? STACKED_LINE_PX * (columns.length + 1) : ROW_PX),
    overscan: 12,
  });
  // Rows are measured only where their cells wrap.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the sizes of the other layout are forgotten
  useEffect(() => virtual.measure(), [virtual, isNarrow]);
  const visible = virtual.getVirtualItems();
  const lastIndex = visible.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && lastIndex >= rows.length - AHEAD) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, lastIndex, rows.length]);

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

  if (query.error) return <Trouble error={query.error} />;
  if (query.isPending) return <Loading />;
  if (rows.length === 0) return empty;
  const last = query.data.pages.at(-1);
  const wide = columns.map(({ min, grow }) => (grow ? `minmax(${min}rem, ${grow}fr)` : `${min}rem`)).join(' ');
  const gridTemplateColumns = isNarrow ? undefined : wide;
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
        className={isNarrow ? 'list stacked' : 'list'}
        ref={measureFrame}
        role="region"
        aria-label={`${label}, scrollable`}
        tabIndex={0}
      >
        <div role="table" aria-label={label} aria-rowcount={hasNextPage ? -1 : rows.length + 1}>
          <div role="row" className="row head" style={{ gridTemplateColumns }} aria-rowindex={1}>
            {columns.map(({ head }) => (
              <div role="columnheader" key={head}>
                {head}
              </div>
            ))}
          </div>
          <div role="rowgroup" className="rows" style={{ height: virtual.getTotalSize() }}>
            <CanBreak value={isNarrow}>
              {visible.map(({ index, start }) => {
                const row = rows[index] as T;
                return (
                  <div
                    role="row"
                    key={rowKey(row)}
                    ref={isNarrow ? virtual.measureElement : undefined}
                    data-index={index}
                    className={rowHref ? 'row link' : 'row'}
                    style={{ gridTemplateColumns, transform: `translateY(${start}px)` }}
                    aria-rowindex={index + 2}
                    tabIndex={rowHref ? 0 : undefined}
                    onClick={() => open(row)}
                    onKeyDown={(event) => onRowKey(event, () => open(row))}
                  >
                    {columns.map(({ head, cell }) => (
                      <Cell key={head} head={head}>
                        {cell(row)}
                      </Cell>
                    ))}
                  </div>
                );
              })}
            </CanBreak>
          </div>
        </div>
      </div>
      {isFetchingNextPage && <Loading />}
    </>
  );
}

/** A text that is cut off is shown as a whole by the pointer. */
function Cell({ head, children }: { head: string; children: ReactNode }) {
  return (
    <div role="cell" data-head={head} title={typeof children === 'string' ? children : undefined}>
      {typeof children === 'string' ? <Breakable text={children} /> : children}
    </div>
  );
}

/** Returns the width of an element, which is kept current, and the ref that stores and measures it. */
function useWidth(stored: RefObject<HTMLDivElement | null>): [number, (element: HTMLDivElement) => () => void] {
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY);
  const measure = useCallback(
    (element: HTMLDivElement) => {
      stored.current = element;
      // The outer width does not depend on a scroll bar, so that the layout does not alternate.
      const read = () => setWidth(element.offsetWidth);
      const observer = new ResizeObserver(read);
      observer.observe(element);
      read();
      return () => {
        observer.disconnect();
        stored.current = null;
      };
    },
    [stored],
  );
  return [width, measure];
}

function remPx(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
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
