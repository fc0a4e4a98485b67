// Report of one benchmark run: each figure is printed as it is known, and all of them as a table at the end.
import type { Figure } from '@holdfast/data-engine/bench/figure.js';

type Row = {
  -readonly [Key in keyof Omit<Figure, 'better'>]: Figure[Key];
} & { ratio?: number; met?: boolean };

const rows: Row[] = [];

export function report({ better = 'higher', ratioTarget, ...figure }: Figure): void {
  const row: Row = { ...figure, value: round(figure.value) };
  if (figure.baseline !== undefined) {
    const baseline = round(figure.baseline);
    row.baseline = baseline;
    row.ratio = round(figure.value / figure.baseline);
    if (ratioTarget !== undefined) {
      row.ratioTarget = ratioTarget;
      row.target = ratioTarget * baseline;
    }
  }
  if (row.target !== undefined) {
    row.met = better === 'higher' ? figure.value >= row.target : figure.value <= row.target;
    row.target = round(row.target);
  }
  rows.push(row);
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

export function printTable(): void {
  const columns = [
    'bench',
    'case',
    'metric',
    'value',
    'unit',
    'baseline',
    'ratio',
    'target',
    'met',
    'longhorn',
  ] as const;
  const text = (row: Row, column: (typeof columns)[number]) =>
    row[column] === undefined ? '' : String(row[column]);
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => text(row, column).length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  process.stderr.write(`\n${line(columns)}\n`);
  for (const row of rows) process.stderr.write(`${line(columns.map((column) => text(row, column)))}\n`);
}

export function percentile(sorted: ArrayLike<number>, share: number): number {
  const found = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}

function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
