/** Series of the capacity charts, computed from the API's samples. */
import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { ClusterCapacity } from '../api/types';

/** Colours are named by the tokens of the theme, so that a chart follows it. */
type Series = {
  readonly name: string;
  readonly token: string;
  readonly values: readonly (number | null)[];
};
export type Chart = {
  /** Ends of the steps, in seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
};

export type Sample = ClusterCapacity['samples'][number];

/** Space on the disks: total, used, written by volumes and promised to them. */
export function spaceChart(capacity: ClusterCapacity): Chart {
  const slots = withGaps(capacity);
  return {
    times: slots.map(({ at }) => at),
    series: [
      series('Size of the disks', '--text-muted', slots, ({ maximum }) => maximum),
      series('Promised', '--warn', slots, ({ scheduled }) => scheduled),
      series('In use', '--busy', slots, ({ maximum, available }) => Math.max(0, maximum - available)),
      series('Written by volumes', '--good', slots, ({ written }) => written),
    ],
    format: formatBytes,
  };
}

/** Bytes sent by rebuilds, as a rate over each step. */
export function trafficChart(capacity: ClusterCapacity): Chart {
  const slots = withGaps(capacity);
  return {
    times: slots.map(({ at }) => at),
    series: [
      series(
        'Sent by rebuilds',
        '--busy',
        slots,
        ({ rebuildTraffic }) => rebuildTraffic / capacity.stepSeconds,
      ),
    ],
    format: (value) => `${formatBytes(Math.round(value))}/s`,
  };
}

type Slot = { readonly at: number; readonly sample: Sample | undefined };

function series(
  name: string,
  token: string,
  slots: readonly Slot[],
  value: (sample: Sample) => number,
): Series {
  return { name, token, values: slots.map(({ sample }) => (sample === undefined ? null : value(sample))) };
}

/** A time without samples, when no worker ran, is shown as a gap and not as a line across it. */
function withGaps({ samples, stepSeconds }: ClusterCapacity): Slot[] {
  let before = Number.NaN;
  return samples.flatMap((sample) => {
    const at = Date.parse(sample.at) / 1_000;
    const gap = at - before > 2 * stepSeconds ? [{ at: before + stepSeconds, sample: undefined }] : [];
    before = at;
    return [...gap, { at, sample }];
  });
}

/** Rows of the table behind the charts: as many as a user reads, evenly spread, the newest first. */
export function tableRows(samples: readonly Sample[], rowsMax: number): Sample[] {
  const every = Math.ceil(samples.length / rowsMax);
  return samples.filter((_, index) => (samples.length - 1 - index) % every === 0).reverse();
}
