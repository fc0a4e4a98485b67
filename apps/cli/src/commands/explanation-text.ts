import type { OutputOptions } from '../output/format.js';
import { type Column, paintTone, renderTable, type Tone } from '../output/table.js';
import type { PlacementExplanation, VolumeExplanation } from '../types.js';

type Replica = VolumeExplanation['replicas'][number];
type Filter = PlacementExplanation['filters'][number];
type Rejection = Filter['rejections'][number];
type Tier = PlacementExplanation['tiers'][number];
type Candidate = PlacementExplanation['scores'][number];

const TIER_TONES: Record<Tier['outcome'], Tone> = {
  won: 'good',
  'no-node': 'plain',
  'no-disk': 'warn',
  'not-needed': 'plain',
};

const TIER_WORDS: Record<Tier['outcome'], string> = {
  won: 'taken',
  'no-node': 'no such node',
  'no-disk': 'no disk fits',
  'not-needed': 'not needed',
};

/**
 * A volume's explanation as text: first the sentence, then where each copy is, then how the next one would be placed.
 */
export function describeVolumeExplanation(explained: VolumeExplanation, options: OutputOptions): string {
  const replicas = table(explained.replicas, REPLICAS, options);
  return [
    explained.sentence,
    ...(explained.replicas.length === 0 ? [] : ['', replicas]),
    // For a copy without a place the first sentence has said this already.
    ...(explained.replicas.some(isUnplaced) ? [] : ['', `One more copy: ${explained.next.sentence}`]),
    ...describePlacement(explained.next, options),
  ].join('\n');
}

function isUnplaced({ nodeName }: Replica): boolean {
  return nodeName === null;
}

/** One placement's explanation as text: the rules in order, the tiers, the best scores, and the cures. */
export function describePlacement(explanation: PlacementExplanation, options: OutputOptions): string[] {
  const { filters, tiers, scores, cures } = explanation;
  const asked = options.output === 'wide' ? filters : filters.filter(({ rejected }) => rejected > 0);
  return [
    ...titled('Rules that refused something', asked, FILTERS, options),
    ...titled('Tiers, in the order in which they are tried', tiers, TIERS, options),
    ...titled(`Best candidates (α = ${explanation.alpha})`, scores, CANDIDATES, options),
    ...(cures.length === 0 ? [] : ['', 'What would help, smallest first; each was tried:']),
    ...cures.map(({ sentence }, index) => `  ${index + 1}. ${paintTone(sentence, 'busy', options.color)}`),
  ];
}

function titled<T>(
  title: string,
  items: readonly T[],
  columns: readonly Column<T>[],
  options: OutputOptions,
): string[] {
  return items.length === 0 ? [] : ['', `${title}:`, table(items, columns, options)];
}

function table<T>(items: readonly T[], columns: readonly Column<T>[], options: OutputOptions): string {
  return renderTable(items, columns, {
    wide: options.output === 'wide',
    headers: options.headers,
    color: options.color,
  });
}

const REPLICAS: Column<Replica>[] = [
  { header: 'copy', cell: ({ replicaId }) => replicaId.slice(-8) },
  {
    header: 'place',
    cell: ({ nodeName, diskName }) => (nodeName === null ? '▲ none' : `${nodeName}/${diskName ?? '?'}`),
    tone: (replica) => (isUnplaced(replica) ? 'bad' : 'plain'),
  },
  { header: 'zone', cell: ({ zone }) => zone ?? '-' },
  { header: 'why', cell: whyThere },
];

const FILTERS: Column<Filter>[] = [
  { header: 'rule', cell: ({ name }) => name },
  { header: 'asked', cell: ({ asked, subject }) => plural(asked, subject), align: 'right' },
  { header: 'refused', cell: ({ rejected }) => String(rejected), align: 'right' },
  {
    header: 'such as',
    cell: ({ rejections: [first], applies }) =>
      first === undefined ? (applies ? '' : 'not asked') : refusalInWords(first),
  },
];

/** A disk's rejection as text. The message names the disk only, and disks of several nodes may share a name. */
function refusalInWords({ nodeName, diskName, message }: Rejection): string {
  return diskName === null ? message : `${nodeName}: ${message}`;
}

const TIERS: Column<Tier>[] = [
  { header: 'tier', cell: ({ description }) => description, tone: ({ outcome }) => TIER_TONES[outcome] },
  { header: 'nodes', cell: ({ nodes }) => String(nodes), align: 'right' },
  { header: 'disks that fit', cell: ({ candidates }) => String(candidates), align: 'right' },
  {
    header: 'outcome',
    cell: ({ outcome }) => TIER_WORDS[outcome],
    tone: ({ outcome }) => TIER_TONES[outcome],
  },
  { header: 'name', cell: ({ name }) => name, wide: true },
];

const CANDIDATES: Column<Candidate>[] = [
  {
    header: 'disk',
    cell: ({ nodeName, diskName, isChosen }) => `${isChosen ? '→' : ' '} ${nodeName}/${diskName}`,
    tone: ({ isChosen }) => (isChosen ? 'good' : 'plain'),
  },
  { header: 'zone', cell: ({ zone }) => zone ?? '-' },
  { header: 'node score', cell: ({ node }) => node.score.toFixed(3), align: 'right' },
  { header: 'disk score', cell: ({ disk }) => disk.score.toFixed(3), align: 'right' },
];

/** Why a copy is where it is. For a copy without a place only when that was found: other lines say why. */
function whyThere(replica: Replica): string {
  if (isUnplaced(replica)) return recordedSince(replica);
  return replica.explanation?.sentence ?? replica.message;
}

function recordedSince({ recorded }: Replica): string {
  return recorded === null ? 'not looked for yet' : `none found at ${recorded.at}`;
}

export function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
