import { isNodeReady } from '@holdfast/core/model/node.js';
import {
  type CopyHealth,
  copyHealth,
  isSilent,
  type SilentNodes,
  type VolumeHealth,
  volumeHealth,
} from '@holdfast/core/policy/silent-nodes.js';
import type { Tone } from '@holdfast/ui/tone.js';
import type {
  Condition,
  Rebuild,
  RebuildState,
  Replica,
  Simulation,
  Snapshot,
  StorageNode,
  Volume,
  VolumeState,
  Zone,
} from './api/types';

/** The one place where a state becomes a word and a tone. A new state is a type error here. */
const VOLUME_HEALTH = {
  notServed: { tone: 'bad', word: 'Not served' },
  healthy: { tone: 'good', word: 'Healthy' },
  degraded: { tone: 'warn', word: 'Degraded' },
  faulted: { tone: 'bad', word: 'Faulted' },
  unknown: { tone: 'idle', word: 'Unknown' },
  creating: { tone: 'busy', word: 'Creating' },
  notPlaced: { tone: 'warn', word: 'Not placed' },
} satisfies Record<VolumeHealth, { tone: Tone; word: string }>;

export const VOLUME_STATE = {
  creating: { tone: 'busy', word: 'Creating' },
  detached: { tone: 'idle', word: 'Detached' },
  attaching: { tone: 'busy', word: 'Attaching' },
  attached: { tone: 'good', word: 'Attached' },
  detaching: { tone: 'busy', word: 'Detaching' },
  deleting: { tone: 'busy', word: 'Deleting' },
} satisfies Record<VolumeState, { tone: Tone; word: string }>;

const COPY_HEALTH = {
  notPlaced: { tone: 'warn', word: 'Not placed' },
  noAnswer: { tone: 'bad', word: 'No answer' },
  notKnown: { tone: 'idle', word: 'Not known' },
  healthy: { tone: 'good', word: 'Healthy' },
  stopped: { tone: 'idle', word: 'Stopped' },
  rebuilding: { tone: 'busy', word: 'Rebuilding' },
  failed: { tone: 'bad', word: 'Failed' },
} satisfies Record<CopyHealth, { tone: Tone; word: string }>;

export const REBUILD_STATE = {
  queued: { tone: 'idle', word: 'Queued' },
  running: { tone: 'busy', word: 'Running' },
  succeeded: { tone: 'good', word: 'Done' },
  failed: { tone: 'warn', word: 'Failed' },
  cancelled: { tone: 'idle', word: 'Cancelled' },
} satisfies Record<RebuildState, { tone: Tone; word: string }>;

/** One that is simply there needs no word. */
export const SNAPSHOT_STATE = {
  creating: { tone: 'busy', word: 'Being taken' },
  ready: { tone: 'good', word: '' },
  removing: { tone: 'busy', word: 'Being deleted' },
  removed: { tone: 'idle', word: 'Deleted' },
  failed: { tone: 'bad', word: 'Failed' },
} satisfies Record<Snapshot['state'], { tone: Tone; word: string }>;

/** How a snapshot got to a copy. */
export const REBUILD_METHOD = {
  full: { tone: 'idle', word: 'Sent whole' },
  delta: { tone: 'busy', word: 'Differences' },
  fast: { tone: 'good', word: 'Left out' },
  ranges: { tone: 'busy', word: 'Differing ranges' },
} satisfies Record<Rebuild['snapshots'][number]['method'], { tone: Tone; word: string }>;

type Look = { tone: Tone; word: string };

export function volumeLook(volume: Volume, silent: SilentNodes): Look {
  return VOLUME_HEALTH[volumeHealth(volume, silent)];
}

export function replicaLook(
  replica: Replica,
  volume: Pick<Volume, 'attachedNodeId'>,
  silent: SilentNodes,
): Look {
  return COPY_HEALTH[copyHealth(replica, volume, silent)];
}

/** State of a volume in a forecast. */
export const VOLUME_ENDS: Record<Simulation['forecast']['volumes']['shown'][number]['end'], Look> = {
  full: { tone: 'good', word: 'All copies' },
  lost: { tone: 'bad', word: 'Lost' },
  unschedulable: { tone: 'warn', word: 'No place' },
  waiting: { tone: 'warn', word: 'Waits' },
};

const DRAIN_LOOKS = {
  draining: { tone: 'busy', word: 'Draining' },
  blocked: { tone: 'warn', word: 'Drain blocked' },
  drained: { tone: 'good', word: 'Drained' },
} satisfies Record<NonNullable<StorageNode['drain']>['state'], { tone: Tone; word: string }>;

/** Counts of a zone's nodes, each with the look of such a node. */
export const NODE_STANDINGS = [
  { standing: 'open', tone: 'good', word: 'Ready' },
  { standing: 'drained', tone: 'good', word: 'Drained' },
  { standing: 'notReady', tone: 'bad', word: 'Not ready' },
  { standing: 'unanswering', tone: 'bad', word: 'No answer' },
  { standing: 'draining', tone: 'busy', word: 'Draining' },
  { standing: 'cordoned', tone: 'warn', word: 'Cordoned' },
  { standing: 'inMaintenance', tone: 'warn', word: 'In maintenance' },
  { standing: 'closed', tone: 'idle', word: 'Scheduling off' },
] as const satisfies readonly (Look & { standing: keyof Zone['nodes'] })[];

/** The condition by which a node does not answer; `undefined`: it does. */
export function silenceOf({ conditions }: Pick<StorageNode, 'conditions'>): Condition | undefined {
  return conditions.find(
    ({ type, status }) => status === 'False' && (type === 'Ready' || type === 'Answering'),
  );
}

export function nodeLook(node: StorageNode): { tone: Tone; word: string } {
  if (node.forget !== null) return { tone: 'bad', word: 'Being forgotten' };
  if (!isNodeReady(node)) return { tone: 'bad', word: 'Not ready' };
  if (isSilent(node)) return { tone: 'bad', word: 'No answer' };
  if (node.drain !== null) return DRAIN_LOOKS[node.drain.state];
  if (node.cordoned) return { tone: 'warn', word: 'Cordoned' };
  if (node.maintenance !== null) return { tone: 'warn', word: 'In maintenance' };
  if (!node.allowScheduling) return { tone: 'idle', word: 'Scheduling off' };
  return { tone: 'good', word: 'Ready' };
}
