import pc from 'picocolors';
import { cellText } from './printable.js';

export type Column<T> = {
  header: string;
  cell: (item: T) => string;
  /** Shown with `-o wide` only. */
  wide?: boolean;
  align?: 'left' | 'right';
  tone?: (item: T) => Tone;
};

export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'plain';
type TableOptions = { wide: boolean; headers: boolean; color: boolean };

const GAP = '  ';

/**
 * A table as text, each column as wide as its widest cell. Cells are padded before they are coloured, because escape
 * sequences have no width.
 */
export function renderTable<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  options: TableOptions,
): string {
  const shown = columns.filter((column) => options.wide || column.wide !== true);
  const cells = items.map((item) => shown.map((column) => cellText(column.cell(item))));
  const widths = shown.map((column, index) =>
    Math.max(options.headers ? column.header.length : 0, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const line = (texts: readonly string[], paint: (text: string, column: number) => string) =>
    texts
      .map((text, column) => paint(pad(text, widths[column] ?? 0, shown[column]?.align), column))
      .join(GAP)
      .trimEnd();
  const rows = items.map((item, index) =>
    line(cells[index] ?? [], (text, column) =>
      paintTone(text, shown[column]?.tone?.(item) ?? 'plain', options.color),
    ),
  );
  const header = line(
    shown.map((column) => column.header.toUpperCase()),
    (text) => text,
  );
  return [...(options.headers ? [header] : []), ...rows].join('\n');
}

function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  return align === 'right' ? text.padStart(width) : text.padEnd(width);
}

export function paintTone(text: string, tone: Tone, color: boolean): string {
  const colors = pc.createColors(color);
  switch (tone) {
    case 'good':
      return colors.green(text);
    case 'busy':
      return colors.cyan(text);
    case 'warn':
      return colors.yellow(text);
    case 'bad':
      return colors.red(text);
    case 'plain':
      return text;
  }
}
