// Report of one benchmark run: each figure is printed as it is known, and all of them as a table at the end.

const rows = [];

/**
 * @param {{bench: string, case: string, metric: string, value: number, unit: string,
 *          baseline?: number, target?: number, ratioTarget?: number, better?: 'lower' | 'higher', longhorn?: string}}
 *   figure
 *   `baseline` was measured in the same run; `ratio` is value / baseline. `ratioTarget` asks for a ratio: `target` is
 *   then that share of the baseline. `longhorn` is what Longhorn did elsewhere, for orientation.
 */
export function report({ better = 'higher', ratioTarget, ...figure }) {
  const row = { ...figure, value: round(figure.value) };
  if (figure.baseline !== undefined) {
    row.baseline = round(figure.baseline);
    row.ratio = round(figure.value / figure.baseline);
    if (ratioTarget !== undefined) Object.assign(row, { ratioTarget, target: ratioTarget * row.baseline });
  }
  if (row.target !== undefined) {
    row.met = better === 'higher' ? figure.value >= row.target : figure.value <= row.target;
    row.target = round(row.target);
  }
  rows.push(row);
  process.stdout.write(`${JSON.stringify(row)}\n`);
}

export function printTable() {
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
  ];
  const text = (row, column) => (row[column] === undefined ? '' : String(row[column]));
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => text(row, column).length)),
  );
  const line = (cells) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index]))
      .join('  ')
      .trimEnd();
  process.stderr.write(`\n${line(columns)}\n`);
  for (const row of rows) process.stderr.write(`${line(columns.map((column) => text(row, column)))}\n`);
}

export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

function round(value) {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
