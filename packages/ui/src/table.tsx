import { clsx } from 'clsx';
import type { ReactNode } from 'react';

export type Column<Row> = {
  header: string;
  cell: (row: Row) => ReactNode;
  align?: 'left' | 'right';
  className?: string;
};

type Props<Row> = {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  empty: ReactNode;
};

/** A dense table with a sticky header. Numbers go right, so that their digits line up. */
export function Table<Row>({ label, rows, columns, rowKey, empty }: Props<Row>) {
  if (rows.length === 0) return empty;
  return (
    <table aria-label={label} className="w-full border-collapse text-sm">
      <thead>
        <tr className="border-b border-border text-left text-xs text-muted">
          {columns.map((column) => (
            <th
              key={column.header}
              scope="col"
              className={clsx('h-8 px-4 font-medium', column.align === 'right' && 'text-right')}
            >
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)} className="border-b border-border last:border-0 hover:bg-hover">
            {columns.map((column) => (
              <td
                key={column.header}
                className={clsx(
                  'h-9 px-4 align-middle',
                  column.align === 'right' && 'whitespace-nowrap text-right tabular-nums',
                  column.className,
                )}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
