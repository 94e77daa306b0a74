import type { RowData } from '@tanstack/react-table';
import { Cells, type Columns, HeadRow, useFit, useGrid } from './grid.tsx';

interface TableProps<T extends RowData> {
  label: string;
  columns: Columns<T>;
  rows: readonly T[];
  rowKey(row: T): string;
}

/**
 * A table of few rows, which can be sorted by its columns. Where the columns do not fit, each row is a block of its
 * cells.
 */
export function Table<T extends RowData>({ label, columns, rows, rowKey }: TableProps<T>) {
  const fit = useFit(columns, rows);
  const { columnVisibility, isNarrow, gridTemplateColumns, measureFrame } = fit;
  const table = useGrid({ columns, rows, rowKey, columnVisibility, isSortable: true });
  return (
    <div className={isNarrow ? 'list small stacked' : 'list small'} ref={measureFrame} role="table" aria-label={label}>
      <HeadRow table={table} fit={fit} />
      <div role="rowgroup" className="rows">
        {table.getRowModel().rows.map((row) => (
          <div role="row" className="row" key={row.id} style={{ gridTemplateColumns }}>
            <Cells row={row} />
          </div>
        ))}
      </div>
    </div>
  );
}
