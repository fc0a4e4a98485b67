import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { OutputOptions } from '../output/format.js';
import { type Column, renderTable } from '../output/table.js';
import type { Simulation } from '../types.js';
import { describePlacement, plural } from './explanation-text.js';
import { timeText } from './node-drain-text.js';

type Shape = Simulation['shapes'][number];
type Place = Shape['placed'][number]['places'][number];
type Zone = Simulation['zones'][number];
type Fill = Zone['before'];

/** Places listed by default: enough to see the pattern. */
const PLACES_SHOWN = 10;
/** Volumes listed by default: the worst. */
const VOLUMES_SHOWN = 20;

/** A what-if's answer as text: the sentence, what fits, what happens to existing volumes, and how full zones get. */
export function describeSimulation(simulation: Simulation, options: OutputOptions): string {
  const { sentence, shapes, zones } = simulation;
  const failure = shapes.find(({ firstFailure }) => firstFailure !== null)?.firstFailure;
  return [
    sentence,
    ...titled('New volumes', shapes, SHAPES, options),
    ...describePlaces(shapes, options),
    ...describeExisting(simulation, options),
    ...describeForecast(simulation, options),
    ...titled('How full the zones get', zones, ZONES, options),
    ...(options.output === 'wide'
      ? titled('How full the nodes get', simulation.nodes.shown, NODES, options)
      : []),
    ...(failure ? ['', `The first that does not fit: ${failure.explanation.sentence}`] : []),
    ...(failure ? describePlacement(failure.explanation, options) : []),
  ].join('\n');
}

function describePlaces(shapes: readonly Shape[], options: OutputOptions): string[] {
  const lines = shapes.flatMap(({ sizeBytes, placed }) =>
    placed.map(
      ({ number, places }) => `  ${formatBytes(sizeBytes)}, no. ${number}: ${places.map(placeOf).join(', ')}`,
    ),
  );
  const inAll = shapes.reduce((sum, { fit }) => sum + fit, 0);
  return lines.length === 0 ? [] : ['', 'Where they go:', ...firstOf(lines, inAll, options)];
}

function placeOf({ nodeName, diskName }: Place): string {
  return `${nodeName}/${diskName}`;
}

/**
 * The first lines of a list, and how many are left out.
 *
 * @param inAll how many items there are, listed or not
 */
function firstOf(lines: readonly string[], inAll: number, { output }: OutputOptions): string[] {
  const shown = output === 'wide' ? lines : lines.slice(0, PLACES_SHOWN);
  const rest = inAll - shown.length;
  return [...shown, ...(rest > 0 ? [`  … and ${rest} more`] : [])];
}

/** Losses, and places for new copies. If copies are not built, the forecast gives the reason. */
function describeExisting({ existing, lost, forecast }: Simulation, options: OutputOptions): string[] {
  if (lost.nodes + lost.disks === 0) return [];
  const { volumesHit, replaced } = existing;
  const rebuilt = replaced.shown.map(({ volumeName, place }) => `  → ${volumeName}: ${placeOf(place)}`);
  const isBuilt = forecast.rebuilds > 0;
  return [
    '',
    `Lost: ${plural(lost.nodes, 'node')} and ${plural(lost.disks, 'disk')}, with copies of ${plural(volumesHit, 'volume')}.`,
    ...(isBuilt ? firstOf(rebuilt, replaced.total, options) : []),
  ];
}

/** How long it takes, and what becomes of each volume; nothing where the change concerns none. */
function describeForecast({ forecast }: Simulation, options: OutputOptions): string[] {
  const { time, rebuilds, bytesToMove, lowWater, volumes, firstUnschedulable } = forecast;
  if (lowWater === null) return [];
  const shown = options.output === 'wide' ? volumes.shown : volumes.shown.slice(0, VOLUMES_SHOWN);
  const rest = volumes.total - shown.length;
  return [
    '',
    'What becomes of volumes:',
    `  lost ${forecast.volumesLost}, degraded meanwhile ${forecast.volumesDegraded}, without a place ${forecast.volumesUnschedulable}, waiting for a user or a node ${forecast.volumesWaiting}`,
    ...(time === null
      ? ['  no copy is built']
      : [
          `  builds ${plural(rebuilds, 'replica')}, ${formatBytes(bytesToMove)}, in ${timeText(time)}${forecast.isCut ? ', and longer: the forecast was cut' : ''}`,
        ]),
    `  leaves ${plural(lowWater.volumes, 'volume')} with ${lowWater.copies} healthy ${lowWater.copies === 1 ? 'copy' : 'copies'} at the fewest`,
    renderTable(shown, FORECAST, { ...options, wide: options.output === 'wide' }),
    ...(rest > 0 ? [`  … and ${rest} more`] : []),
    ...(firstUnschedulable === null ? [] : describePlacement(firstUnschedulable, options)),
  ];
}

function titled<T>(
  title: string,
  items: readonly T[],
  columns: readonly Column<T>[],
  options: OutputOptions,
): string[] {
  if (items.length === 0) return [];
  const { headers, color } = options;
  return ['', `${title}:`, renderTable(items, columns, { wide: options.output === 'wide', headers, color })];
}

const SHAPES: Column<Shape>[] = [
  { header: 'size', cell: ({ sizeBytes }) => formatBytes(sizeBytes), align: 'right' },
  { header: 'copies', cell: ({ numberOfReplicas }) => String(numberOfReplicas), align: 'right' },
  { header: 'asked', cell: ({ asked }) => String(asked), align: 'right' },
  {
    header: 'fit',
    cell: ({ fit }) => String(fit),
    align: 'right',
    tone: ({ fit, asked }) => (fit === asked ? 'good' : 'bad'),
  },
  { header: 'more would fit', cell: moreOf, align: 'right' },
  { header: 'limited by', cell: ({ howManyMore }) => howManyMore?.limitedBy ?? '-', wide: true },
];

function moreOf({ howManyMore }: Shape): string {
  if (howManyMore === null) return '-';
  return `${howManyMore.isAtLeast ? 'at least ' : ''}${howManyMore.count}`;
}

type Forecasted = Simulation['forecast']['volumes']['shown'][number];

const ENDS: Readonly<Record<Forecasted['end'], string>> = {
  full: 'all copies',
  lost: 'lost',
  unschedulable: 'no place',
  waiting: 'waiting',
};

const FORECAST: Column<Forecasted>[] = [
  { header: 'volume', cell: ({ volumeName }) => volumeName },
  {
    header: 'comes to',
    cell: ({ end }) => ENDS[end],
    tone: ({ end }) => (end === 'full' ? 'good' : end === 'lost' ? 'bad' : 'warn'),
  },
  { header: 'now', cell: ({ copiesNow }) => String(copiesNow), align: 'right' },
  { header: 'fewest', cell: ({ copiesAtLowest }) => String(copiesAtLowest), align: 'right' },
  {
    header: 'in the end',
    cell: ({ copiesAtEnd, copiesWanted }) => `${copiesAtEnd} of ${copiesWanted}`,
    align: 'right',
  },
  { header: 'to copy', cell: ({ bytesToMove }) => formatBytes(bytesToMove), align: 'right' },
  { header: 'why', cell: ({ why }) => why ?? '-' },
];

const ZONES: Column<Zone>[] = [
  { header: 'zone', cell: ({ zone }) => zone ?? '(none)' },
  { header: 'before', cell: ({ before }) => fillText(before), align: 'right' },
  { header: 'after', cell: ({ after }) => fillText(after), align: 'right' },
];

const NODES: Column<Simulation['nodes']['shown'][number]>[] = [
  { header: 'node', cell: ({ nodeName }) => nodeName },
  { header: 'zone', cell: ({ zone }) => zone ?? '(none)' },
  { header: 'before', cell: ({ before }) => fillText(before), align: 'right' },
  { header: 'after', cell: ({ after }) => fillText(after), align: 'right' },
];

/** Bytes booked of the capacity, as text. */
function fillText(fill: Fill): string {
  if (fill === null) return 'not there';
  return `${formatBytes(fill.scheduledBytes)} of ${formatBytes(fill.capacityBytes)}`;
}
