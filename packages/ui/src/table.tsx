import { clsx } from 'clsx';
import type { ReactNode } from 'react';

export type Column<Row> = {
  /** Never empty: a screen reader says it of each cell. */
  header: string;
  /** Where what stands in the cells says it to those who see them, such as buttons. */
  isHeaderHidden?: boolean;
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

/**
 * A dense table. Numbers go right, so that their digits line up. On a phone each row is a card that names its
 * values.
 */
export function Table<Row>({ label, rows, columns, rowKey, empty }: Props<Row>) {
  if (rows.length === 0) return empty;
  return (
    <table aria-label={label} className="w-full border-collapse text-sm max-sm:block">
      <thead className="max-sm:sr-only">
        <tr className="border-b border-border text-left text-xs text-muted">
          {columns.map((column) => (
            <th
              key={column.header}
              scope="col"
              className={clsx('h-8 px-4 py-1 font-medium', column.align === 'right' && 'text-right')}
            >
              {column.isHeaderHidden ? <span className="sr-only">{column.header}</span> : column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-sm:block">
        {rows.map((row) => (
          <tr
            key={rowKey(row)}
            className="border-b border-border last:border-0 hover:bg-hover max-sm:block max-sm:px-4 max-sm:py-2"
          >
            {columns.map((column) => (
              <td
                key={column.header}
                data-label={column.isHeaderHidden ? '' : column.header}
                className={clsx(
                  'h-9 px-4 py-1 align-middle',
                  'max-sm:flex max-sm:h-auto max-sm:min-h-7 max-sm:max-w-none max-sm:items-baseline max-sm:justify-between max-sm:gap-3 max-sm:px-0',
                  'max-sm:before:min-w-18 max-sm:before:shrink-0 max-sm:before:text-left max-sm:before:text-xs max-sm:before:text-muted max-sm:before:content-[attr(data-label)]',
                  column.align === 'right' && 'whitespace-nowrap text-right tabular-nums',
                  column.isHeaderHidden && 'max-sm:justify-end',
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
