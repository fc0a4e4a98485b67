import {
  type CopyHealth,
  copyHealth,
  isSilent,
  type SilentNodes,
  type VolumeHealth,
  volumeHealth,
} from '@holdfast/core/policy/silent-nodes.js';
import type { Condition, Node, Replica, Snapshot, Volume } from '../types.js';
import type { Tone } from './table.js';

/** A state as glyph and word, so that colour is never the only sign. */
export type Look = { text: string; tone: Tone };

const VOLUME_HEALTH: Record<VolumeHealth, Look> = {
  notServed: { text: '✕ not served', tone: 'bad' },
  healthy: { text: '✓ healthy', tone: 'good' },
  degraded: { text: '▲ degraded', tone: 'warn' },
  faulted: { text: '✕ faulted', tone: 'bad' },
  unknown: { text: '○ unknown', tone: 'plain' },
  creating: { text: '◐ creating', tone: 'busy' },
  notPlaced: { text: '▲ not placed', tone: 'warn' },
};

const COPY_HEALTH: Record<CopyHealth, Look> = {
  notPlaced: { text: '▲ not placed', tone: 'warn' },
  noAnswer: { text: '✕ no answer', tone: 'bad' },
  notKnown: { text: '○ not known', tone: 'plain' },
  healthy: { text: '✓ healthy', tone: 'good' },
  stopped: { text: '○ stopped', tone: 'plain' },
  rebuilding: { text: '◐ rebuilding', tone: 'busy' },
  failed: { text: '✕ failed', tone: 'bad' },
};

const REBUILD: Record<string, Look> = {
  queued: { text: '○ queued', tone: 'plain' },
  running: { text: '◐ running', tone: 'busy' },
  succeeded: { text: '✓ succeeded', tone: 'good' },
  failed: { text: '▲ failed', tone: 'warn' },
  cancelled: { text: '○ cancelled', tone: 'plain' },
};

const plain = (text: string): Look => ({ text, tone: 'plain' });

/** An API of a newer version may know states that this program has no word for. */
export function volumeLook(volume: Volume, silent: SilentNodes): Look {
  const health: string = volumeHealth(volume, silent);
  return known(VOLUME_HEALTH, health);
}

export function copyLook(copy: Replica, volume: Pick<Volume, 'attachedNodeId'>, silent: SilentNodes): Look {
  const health: string = copyHealth(copy, volume, silent);
  return known(COPY_HEALTH, health);
}

function known(looks: Readonly<Record<string, Look>>, state: string): Look {
  return looks[state] ?? plain(state);
}

export function rebuildLook(state: string): Look {
  return known(REBUILD, state);
}

const SNAPSHOT: Record<string, Look> = {
  creating: { text: '◐ creating', tone: 'busy' },
  ready: { text: '✓ ready', tone: 'good' },
  removing: { text: '◐ removing', tone: 'busy' },
  removed: { text: '○ removed', tone: 'plain' },
  failed: { text: '✕ failed', tone: 'bad' },
};

export function snapshotLook({ state }: Snapshot): Look {
  return known(SNAPSHOT, state);
}

export function nodeLook(node: Node): Look {
  if (node.forget !== null) return { text: '✕ gone, being forgotten', tone: 'bad' };
  const silence = !isTrue(node.conditions, 'Ready') ? 'not ready' : isSilent(node) ? 'no answer' : undefined;
  if (silence !== undefined) {
    const planned = node.maintenance === null ? '' : `, ${maintenanceText(node.maintenance)}`;
    return {
      text: `✕ ${silence}${node.drain === null ? planned : `, ${drainText(node.drain)}`}`,
      tone: 'bad',
    };
  }
  if (node.drain !== null) return { text: `▲ ${drainText(node.drain)}`, tone: 'warn' };
  if (node.cordoned) return { text: '▲ cordoned', tone: 'warn' };
  if (node.maintenance !== null) return { text: `▲ ${maintenanceText(node.maintenance)}`, tone: 'warn' };
  return node.allowScheduling ? { text: '✓ ready', tone: 'good' } : plain('○ scheduling off');
}

function drainText({ state, progress, waitingCount }: NonNullable<Node['drain']>): string {
  if (state === 'drained') return 'drained';
  const moved =
    progress.replicasToMove === 0 ? '' : ` ${progress.replicasMoved} of ${progress.replicasToMove} moved`;
  return state === 'blocked' ? `drain blocked, waiting for ${waitingCount}` : `draining${moved}`;
}

/** To the minute, in UTC as all times of the CLI. */
function maintenanceText({ until }: NonNullable<Node['maintenance']>): string {
  return `in maintenance until ${until.slice(0, 16).replace('T', ' ')} UTC`;
}

export function isTrue(conditions: readonly Condition[], type: string): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === 'True');
}
