import {
  type ColumnDef,
  columnVisibilityFeature,
  createColumnHelper,
  createSortedRowModel,
  metaHelper,
  type ReactTable,
  type Row,
  type RowData,
  rowSortingFeature,
  sortFn_alphanumeric,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { type ReactNode, type RefObject, useCallback, useMemo, useRef, useState } from 'react';
import { Breakable } from './breakable.tsx';

interface ColumnMeta {
  /** The smallest width, in rem. */
  min: number;
  /** The share of the remaining width that the column gets. Without it, the column does not grow. */
  grow?: number;
  /** The column is left out while no row has a value in it. */
  isOptional?: boolean;
}

const features = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric },
  columnMeta: metaHelper<ColumnMeta>(),
});
const DEFAULT_WIDTH: ColumnMeta = { min: 6, grow: 1 };

// biome-ignore lint/suspicious/noExplicitAny: each column has its own type of value
export type Columns<T extends RowData> = readonly ColumnDef<typeof features, T, any>[];

/** Returns the functions that define columns of rows of one type. */
export const columnsOf = <T extends RowData>() => createColumnHelper<typeof features, T>();

const GAP_REM = 0.75;
/** The width of a scroll bar and of the borders. */
const SCROLLBAR_REM = 1.5;

interface Fit {
  columnVisibility: Record<string, boolean>;
  /** The columns do not fit the width of the frame, so each row is a block of its cells. */
  isNarrow: boolean;
  gridTemplateColumns: string | undefined;
  frame: RefObject<HTMLDivElement | null>;
  measureFrame(element: HTMLDivElement): () => void;
}

/** Decides which columns are shown, and whether they fit the width of their frame. */
export function useFit<T extends RowData>(columns: Columns<T>, rows: readonly T[]): Fit {
  const columnVisibility = useMemo(() => visibilityOf(columns, rows), [columns, rows]);
  const frame = useRef<HTMLDivElement | null>(null);
  const [width, measureFrame] = useWidth(frame);
  const shown = columns.filter(({ id = '' }) => columnVisibility[id] !== false);
  const widths = shown.map(({ meta }) => meta ?? DEFAULT_WIDTH);
  const neededRem = widths.reduce((sum, { min }) => sum + min + GAP_REM, GAP_REM + SCROLLBAR_REM);
  const isNarrow = width < neededRem * remPx();
  const wide = widths.map(({ min, grow }) => (grow ? `minmax(${min}rem, ${grow}fr)` : `${min}rem`)).join(' ');
  return { columnVisibility, isNarrow, gridTemplateColumns: isNarrow ? undefined : wide, frame, measureFrame };
}

interface GridOptions<T extends RowData> {
  columns: Columns<T>;
  /** The rows that are in the document; of a long list, only the visible ones. */
  rows: readonly T[];
  rowKey(row: T): string;
  columnVisibility: Record<string, boolean>;
  isSortable?: boolean;
}

/** Returns the model of a table: its heads, and the cells of its rows. */
export function useGrid<T extends RowData>(options: GridOptions<T>): ReactTable<typeof features, T> {
  const { columns, rows, rowKey, columnVisibility, isSortable = false } = options;
  return useTable({
    features,
    columns,
    data: rows,
    getRowId: rowKey,
    defaultColumn: { sortFn: 'alphanumeric' },
    enableSorting: isSortable,
    state: { columnVisibility },
  });
}

function visibilityOf<T extends RowData>(columns: Columns<T>, rows: readonly T[]): Record<string, boolean> {
  const optional = columns.filter((column) => column.meta?.isOptional);
  return Object.fromEntries(
    optional.map((column) => [
      column.id,
      rows.some((row, index) => 'accessorFn' in column && column.accessorFn(row, index)),
    ]),
  );
}

/** The heads of the columns. Those of a table that can be sorted are buttons. */
export function HeadRow<T extends RowData>({ table, fit }: { table: ReactTable<typeof features, T>; fit: Fit }) {
  const { isNarrow, gridTemplateColumns } = fit;
  return (
    <div role="row" className="row head" style={{ gridTemplateColumns }} aria-rowindex={1}>
      {table.getLeafHeaders().map(({ column }) => {
        const head = column.columnDef.header as string;
        const order = column.getIsSorted();
        // Where rows are blocks, the heads are not visible.
        const isButton = column.getCanSort() && !isNarrow;
        return (
          <div role="columnheader" key={column.id} aria-sort={order ? ORDERS[order] : undefined}>
            {isButton ? (
              <button type="button" className="sort" onClick={() => column.toggleSorting()}>
                {head}
              </button>
            ) : (
              head
            )}
          </div>
        );
      })}
    </div>
  );
}

const ORDERS = { asc: 'ascending', desc: 'descending' } as const;

/** The cells of a row. */
export function Cells<T extends RowData>({ row }: { row: Row<typeof features, T> }) {
  return row.getVisibleCells().map((cell) => {
    const { cell: template, header } = cell.column.columnDef;
    // Called as a function and not used as a component: React would create the cell again, and the cell would lose the
    // focus, whenever the columns are defined again.
    const content: ReactNode = typeof template === 'function' ? template(cell.getContext()) : template;
    const text = typeof content === 'string' ? content : undefined;
    return (
      // The title shows the whole text if the cell cuts it off.
      <div role="cell" key={cell.id} data-head={header} title={text}>
        {text === undefined ? content : <Breakable text={text} />}
      </div>
    );
  });
}

/** Returns the current width of an element, and a ref callback that stores and measures the element. */
function useWidth(stored: RefObject<HTMLDivElement | null>): [number, (element: HTMLDivElement) => () => void] {
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY);
  const measure = useCallback(
    (element: HTMLDivElement) => {
      stored.current = element;
      // The outer width does not depend on a scroll bar. With the inner width, the layout could alternate endlessly: it
      // would add or remove a scroll bar, which would change the width and so the layout.
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
