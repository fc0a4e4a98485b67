/** A cluster's capacity as text: the forecast, then what there was at a few times. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { ClusterCapacity } from '../types.js';
import { formatList, type OutputOptions } from './format.js';
import type { Column } from './table.js';

/** As many lines as one screen has room for; all samples are in the output as JSON. */
const LINES_MAX = 12;

type Line = ClusterCapacity['samples'][number];

const COLUMNS: Column<Line>[] = [
  { header: 'at', cell: ({ at }) => at },
  { header: 'size', cell: ({ maximum }) => formatBytes(maximum), align: 'right' },
  { header: 'free', cell: ({ available }) => formatBytes(available), align: 'right' },
  { header: 'promised', cell: ({ scheduled }) => formatBytes(scheduled), align: 'right' },
  { header: 'written', cell: ({ written }) => formatBytes(written), align: 'right' },
  { header: 'rebuild traffic', cell: ({ rebuildTraffic }) => formatBytes(rebuildTraffic), align: 'right' },
];

export function capacityText({ forecast, samples }: ClusterCapacity, options: OutputOptions): string {
  if (samples.length === 0) return `${forecast.sentence}\nThere are no samples yet.`;
  return [forecast.sentence, formatList(fewOf(samples), COLUMNS, options)].join('\n');
}

/** Spread evenly, the newest among them; traffic of those between is added up. */
function fewOf(samples: readonly Line[]): Line[] {
  const every = Math.ceil(samples.length / LINES_MAX);
  const lines: Line[] = [];
  for (let end = samples.length; end > 0; end -= every) {
    const part = samples.slice(Math.max(0, end - every), end);
    const last = part.at(-1);
    if (last === undefined) continue;
    lines.unshift({ ...last, rebuildTraffic: part.reduce((sum, sample) => sum + sample.rebuildTraffic, 0) });
  }
  return lines;
}
