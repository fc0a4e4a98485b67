import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { OutputOptions } from '../output/format.js';
import { isHealthyCopy, robustnessLook } from '../output/states.js';
import { type Column, paintTone, renderTable, type Tone } from '../output/table.js';
import type { Replica, Verification, Volume } from '../types.js';

type NameOf = (nodeId: string | null) => string;

/** One volume as text: facts first, then its copies, then what keeps it from being healthy. */
export function describeVolume(volume: Volume, nodeName: NameOf, options: OutputOptions): string {
  const look = robustnessLook(volume);
  const facts: [string, string][] = [
    ['name', volume.name],
    ['id', volume.id],
    ['health', paintTone(look.text, look.tone, options.color)],
    [
      'state',
      volume.attachedNodeId === null ? volume.state : `${volume.state} on ${nodeName(volume.attachedNodeId)}`,
    ],
    ['size', `${formatBytes(volume.size)}, ${formatBytes(volume.writtenBytes)} written`],
    ['address', volume.endpoint?.nbdUri ?? '-'],
  ];
  const width = Math.max(...facts.map(([label]) => label.length));
  const lines = facts.map(([label, value]) => `${label.padEnd(width)}  ${value}`);
  const table = renderTable(volume.replicas, replicaColumns(nodeName), {
    wide: options.output === 'wide',
    headers: true,
    color: options.color,
  });
  return [
    ...lines,
    '',
    ...(volume.replicas.length > 0 ? [table] : ['no copies placed']),
    ...troubles(volume),
  ].join('\n');
}

function replicaColumns(nodeName: NameOf): Column<Replica>[] {
  return [
    { header: 'copy', cell: (replica) => replica.id.slice(-8) },
    { header: 'state', cell: copyWord, tone: copyTone },
    { header: 'mode', cell: (replica) => replica.mode ?? '-' },
    { header: 'node', cell: (replica) => nodeName(replica.nodeId) },
    { header: 'zone', cell: (replica) => replica.zone ?? '-' },
    { header: 'replica id', cell: (replica) => replica.id, wide: true },
    { header: 'disk id', cell: (replica) => replica.diskId ?? '-', wide: true },
  ];
}

function copyWord(replica: Replica): string {
  if (replica.nodeId === null) return '▲ not placed';
  if (isHealthyCopy(replica)) return '✓ healthy';
  return replica.state === 'failed'
    ? '✕ failed'
    : replica.state === 'rebuilding'
      ? '◐ rebuilding'
      : `○ ${replica.state}`;
}

function copyTone(replica: Replica): Tone {
  if (isHealthyCopy(replica)) return 'good';
  return replica.state === 'failed' ? 'bad' : replica.state === 'rebuilding' ? 'busy' : 'plain';
}

function troubles(volume: Volume): string[] {
  return [
    ...(volume.attention === null
      ? []
      : ['', volume.attention.message, ...volume.attention.cures.map((cure) => `  - ${cure}`)]),
    ...notedLines(volume).flatMap((line) => ['', line]),
    ...unplacedLines(volume).flatMap((line, index) => (index === 0 ? ['', line] : [line])),
  ];
}

/** Conditions that users should see although nothing is broken. */
const NOTED = new Set(['TooManySnapshots', 'OfflineRebuilding', 'RebuildsHeld', 'RebuildWaiting']);

/** Those that users should see when they are not so. */
const NOTED_WHEN_FALSE = new Set(['AutoBalance', 'DataLocality', 'PlacementFits']);

export function notedLines({ conditions }: Pick<Volume, 'conditions'>): string[] {
  const messages = conditions
    .filter(({ type, status }) => (status === 'False' ? NOTED_WHEN_FALSE : NOTED).has(type))
    .map(({ message }) => message);
  // A hold is the reason of two conditions, in the same words.
  return [...new Set(messages)];
}

/** Missing copies that are not even in the queue, and why. */
export function waitingLines(volumes: readonly Pick<Volume, 'name' | 'conditions'>[]): string[] {
  return volumes.flatMap(({ name, conditions }) =>
    conditions
      .filter(({ type, status }) => type === 'RebuildWaiting' && status === 'True')
      .map(({ message }) => `${name}: ${message}`),
  );
}

/** Why a copy has no place: the explanation's sentence, and the command that says more. Empty when all have a place. */
export function unplacedLines({ name, conditions }: Volume): string[] {
  const unscheduled = conditions.find(({ type, status }) => type === 'Scheduled' && status === 'False');
  if (unscheduled === undefined) return [];
  // The first line is the sentence; the others go through the disks one by one.
  const [sentence = ''] = unscheduled.message.split('\n', 1);
  return [shortened(sentence), `  holdfast volume explain ${name} says more`];
}

/**
 * Longest sentence that is printed whole. Until the worker has explained the copy, the message is a long list of disks.
 */
const SENTENCE_LENGTH_MAX = 600;

function shortened(sentence: string): string {
  return sentence.length <= SENTENCE_LENGTH_MAX ? sentence : `${sentence.slice(0, SENTENCE_LENGTH_MAX)}…`;
}

export function describeVerification(volume: Volume, verification: Verification, nodeName: NameOf): string {
  const nodeOf = new Map(volume.replicas.map((replica) => [replica.id, nodeName(replica.nodeId)]));
  const lines = verification.replicas.map(
    ({ replicaId, checksum, error }) =>
      `  ${(nodeOf.get(replicaId) ?? replicaId).padEnd(12)}  ${checksum ?? error ?? '-'}`,
  );
  const verdict = verification.equal === true ? '✓ all copies are equal' : `✕ ${verification.message}`;
  return [`${volume.name}: ${verdict}`, ...lines].join('\n');
}
