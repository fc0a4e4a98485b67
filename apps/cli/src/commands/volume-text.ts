import { formatBytes } from '@holdfast/core/model/bytes.js';
import { shownAddress } from '@holdfast/core/policy/silent-nodes.js';
import type { NodesNow } from '../nodes-now.js';
import type { OutputOptions } from '../output/format.js';
import { copyLook, volumeLook } from '../output/states.js';
import { type Column, paintTone, renderTable } from '../output/table.js';
import { shownVolume } from '../shown-volume.js';
import type { Replica, Verification, Volume } from '../types.js';

/** One volume as text: facts first, then its copies, then what keeps it from being healthy. */
export function describeVolume(volume: Volume, nodes: NodesNow, options: OutputOptions): string {
  const look = volumeLook(volume, nodes.silent);
  const facts: [string, string][] = [
    ['name', volume.name],
    ['id', volume.id],
    ['health', paintTone(look.text, look.tone, options.color)],
    [
      'state',
      volume.attachedNodeId === null
        ? volume.state
        : `${volume.state} on ${nodes.nameOf(volume.attachedNodeId)}`,
    ],
    ['size', `${formatBytes(volume.size)}, ${formatBytes(volume.writtenBytes)} written`],
    ['address', addressText(volume, nodes)],
    ['verified', verifiedText(volume)],
  ];
  const width = Math.max(...facts.map(([label]) => label.length));
  const lines = facts.map(([label, value]) => `${label.padEnd(width)}  ${value}`);
  const table = renderTable(
    byNode(shownVolume(volume, nodes.silent).replicas, nodes.nameOf),
    replicaColumns(volume, nodes),
    {
      wide: options.output === 'wide',
      headers: true,
      color: options.color,
    },
  );
  return [
    ...lines,
    '',
    ...(volume.replicas.length > 0 ? [table] : ['no copies placed']),
    ...troubles(volume),
  ].join('\n');
}

/** Copies in the order of their nodes, as people look for them. */
function byNode<Copy extends Pick<Replica, 'nodeId'>>(
  copies: readonly Copy[],
  nameOf: NodesNow['nameOf'],
): Copy[] {
  return copies.toSorted((one, other) =>
    nameOf(one.nodeId).localeCompare(nameOf(other.nodeId), 'en', { numeric: true }),
  );
}

/** Result for a new volume, in one line. `unplacedLines` gives the reason for a copy without a place. */
export function createdLine(volume: Volume, nameOf: NodesNow['nameOf']): string {
  const placed = volume.replicas.filter(({ nodeId }) => nodeId !== null);
  const nodes = byNode(placed, nameOf)
    .map(({ nodeId }) => nameOf(nodeId))
    .join(', ');
  const copies =
    placed.length === volume.numberOfReplicas
      ? `copies on ${nodes}`
      : `${placed.length} of ${volume.numberOfReplicas} copies have a place`;
  return `${volume.name}: ${volume.state}, ${copies}`;
}

/** When its copies were last compared, and what came of it. */
function verifiedText({ verification }: Volume): string {
  if (verification === null) return 'never';
  const { finishedAt, message } = verification;
  if (finishedAt === null) return message === '' ? 'now: copies are read' : `now: ${message}`;
  return `${finishedAt}: ${message}`;
}

/** The address, or why none is offered and what helps. */
function addressText(volume: Volume, nodes: NodesNow): string {
  const address = shownAddress(volume, nodes.silent);
  switch (address.kind) {
    case 'address':
      return address.nbdUri;
    case 'silent':
      return `none now: ${silentHolderText(volume, nodes)}`;
    case 'hidden':
      return 'shown to those who may change volumes';
    case 'none':
      return '-';
  }
}

/** Problem with the address of a volume that is not served, and its cure. */
export function silentHolderText({ name, attachedNodeId }: Volume, { nameOf }: NodesNow): string {
  const node = nameOf(attachedNodeId);
  return `${node} does not answer; start its agent, or holdfast volume detach ${name} --force and attach it elsewhere`;
}

function replicaColumns(volume: Volume, { nameOf, silent }: NodesNow): Column<Replica>[] {
  const look = (replica: Replica) => copyLook(replica, volume, silent);
  return [
    { header: 'copy', cell: (replica) => replica.id.slice(-8) },
    { header: 'state', cell: (replica) => look(replica).text, tone: (replica) => look(replica).tone },
    { header: 'mode', cell: ({ mode }) => mode ?? '-' },
    { header: 'node', cell: (replica) => nameOf(replica.nodeId) },
    { header: 'zone', cell: (replica) => replica.zone ?? '-' },
    { header: 'replica id', cell: (replica) => replica.id, wide: true },
    { header: 'disk id', cell: (replica) => replica.diskId ?? '-', wide: true },
  ];
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
const NOTED = new Set([
  'CopiesDiffer',
  'TooManySnapshots',
  'OfflineRebuilding',
  'RebuildsHeld',
  'RebuildWaiting',
]);

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

export function describeVerification(
  volume: Volume,
  verification: Verification,
  { nameOf }: Pick<NodesNow, 'nameOf'>,
): string {
  const nodeOf = new Map(volume.replicas.map((replica) => [replica.id, nameOf(replica.nodeId)]));
  const rows = verification.replicas.map(
    ({ replicaId, checksum, error }) =>
      `  ${(nodeOf.get(replicaId) ?? replicaId).padEnd(12)}  ${checksum ?? error ?? '-'}`,
  );
  const lines = rows.toSorted();
  const verdict = verification.equal === true ? '✓ all copies are equal' : `✕ ${verification.message}`;
  return [`${volume.name}: ${verdict}`, ...lines].join('\n');
}
