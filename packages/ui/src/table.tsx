import { clsx } from 'clsx';
import type { ReactNode } from 'react';

export type Column<Row> = {
  /** Never empty: a screen reader says it of each cell. */
  header: string;
  /** Column without a visible title, because its cells speak for themselves, such as buttons. */
  isHeaderHidden?: boolean;
  cell: (row: Row) => ReactNode;
  align?: 'left' | 'right';
  className?: string;
  /** Left out of the lines of a phone, if its content has a page of its own. */
  isWide?: boolean;
};

type Props<Row> = {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  empty: ReactNode;
  /** On a phone each row is a card that names its values, or a line of the narrow ones. */
  onPhone?: 'cards' | 'lines';
};

/** A dense table. Numbers go right, so that their digits line up. */
export function Table<Row>({ label, rows, columns, rowKey, empty, onPhone = 'cards' }: Props<Row>) {
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
            className={clsx('border-b border-border last:border-0 hover:bg-hover', ROW_ON_PHONE[onPhone])}
          >
            {columns.map((column) => (
              <td
                key={column.header}
                data-label={column.isHeaderHidden ? '' : column.header}
                className={clsx(
                  'h-9 px-4 py-1 align-middle',
                  CELL_ON_PHONE[onPhone],
                  column.align === 'right' && 'whitespace-nowrap text-right tabular-nums',
                  onPhone === 'cards' && column.isHeaderHidden && 'max-sm:justify-end',
                  onPhone === 'lines' && column.isWide && 'max-sm:hidden!',
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

const ROW_ON_PHONE = {
  cards: 'max-sm:block max-sm:px-4 max-sm:py-2',
  lines: 'max-sm:flex max-sm:items-center max-sm:gap-3 max-sm:px-4 max-sm:py-0.5',
};

const CELL_ON_PHONE = {
  cards: clsx(
    'max-sm:flex max-sm:h-auto max-sm:min-h-7 max-sm:max-w-none max-sm:items-baseline max-sm:justify-between max-sm:gap-3 max-sm:px-0',
    'max-sm:before:min-w-18 max-sm:before:shrink-0 max-sm:before:text-left max-sm:before:text-xs max-sm:before:text-muted max-sm:before:content-[attr(data-label)]',
  ),
  lines: 'max-sm:flex max-sm:h-auto max-sm:min-h-9 max-sm:items-center max-sm:px-0 max-sm:py-0.5',
};
