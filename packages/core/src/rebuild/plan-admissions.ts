/**
 * Decides which waiting rebuilds may start, against the limits per target node, per source node and per cluster.
 *
 * Pure. Limits are strict because one commit at a time per cluster applies a decision (the queue's version guards it):
 * what runs is what the database says runs, whatever became of the worker that started it. A rebuild that was cancelled
 * or given up keeps its place until its engine has stopped it. A rebuild that has to wait does not hold up one behind it
 * that needs other nodes.
 */

import { compareIds, type NodeId, type RebuildId } from '../model/ids.js';
import type { LayerTask } from '../model/layer-task.js';
import type { Rebuild, WaitingReason } from '../model/rebuild.js';
import type { RebuildQueueView } from '../model/views.js';
import type { RebuildHold } from '../model/volume.js';
import { shareBandwidth } from './share-bandwidth.js';

export type Admissions = {
  readonly admit: readonly RebuildId[];
  /** What rebuilds may copy from now on, where it is something else than before. */
  readonly grants: readonly { readonly rebuildId: RebuildId; readonly bytesPerSecond: number | undefined }[];
  /** In the order of the queue. */
  readonly waiting: readonly (Waiting & { readonly rebuildId: RebuildId })[];
};

const TARGET_LIMIT = 'concurrent-replica-rebuild-per-node-limit';
const SOURCE_LIMIT = 'concurrent-rebuild-source-per-node-limit';
const CLUSTER_LIMIT = 'concurrent-rebuild-per-cluster-limit';

/**
 * How long the call that starts a rebuild may be on its way to the engine; clients of agents give up then. A report that
 * is no later than this after the end of a rebuild and does not mention it proves nothing: the call may arrive after it.
 */
export const START_CALL_MS_MAX = 20_000;

/** What a rebuild waits for: in a code, and in words. */
export type Waiting = { readonly reason: WaitingReason; readonly waitingFor: string };

const BLOCKED = {
  purge: { reason: 'VolumePurging', waitingFor: 'its snapshots are being purged' },
  revert: { reason: 'VolumeReverting', waitingFor: 'the volume is being reverted to a snapshot' },
  expand: { reason: 'VolumeExpanding', waitingFor: 'the volume is being expanded' },
  migrating: { reason: 'VolumeMigrating', waitingFor: 'the volume is being migrated to another engine' },
  restoring: {
    reason: 'VolumeRestoring',
    waitingFor: 'the volume is being restored by an engine that can not rebuild meanwhile',
  },
  standby: {
    reason: 'VolumeStandby',
    waitingFor: 'the volume follows a backup for disaster recovery: it has to be activated first',
  },
} as const satisfies Record<LayerTask['kind'] | RebuildHold, Waiting>;

/** Why no rebuild of a volume starts that has this hold, or whose layers are changed so. */
export function blockText(by: LayerTask['kind'] | RebuildHold): Waiting {
  return BLOCKED[by];
}

export function planAdmissions(view: RebuildQueueView): Admissions {
  const load = new RunningLoad(view);
  const admit: RebuildId[] = [];
  const waiting: (Waiting & { rebuildId: RebuildId })[] = [];
  for (const rebuild of [...view.queued].sort(compareQueued)) {
    const obstacle = load.obstacleFor(rebuild);
    if (obstacle === undefined) {
      load.add(rebuild);
      admit.push(rebuild.id);
    } else {
      waiting.push({ rebuildId: rebuild.id, ...obstacle });
    }
  }
  const running = [...view.running, ...view.queued.filter(({ id }) => admit.includes(id))];
  const shares = shareBandwidth(running, view.settings);
  const grants = running
    .filter(({ id, grantedBytesPerSecond }) => shares.get(id) !== grantedBytesPerSecond)
    .map(({ id }) => ({ rebuildId: id, bytesPerSecond: shares.get(id) }));
  return { admit, grants, waiting };
}

/** The volume that is nearest to losing data goes first: fewest full copies, then the oldest, then the smallest. */
export function compareQueued(a: Rebuild, b: Rebuild): number {
  return (
    a.healthyCopies - b.healthyCopies ||
    a.queuedAt.getTime() - b.queuedAt.getTime() ||
    a.sizeBytes - b.sizeBytes ||
    compareIds(a.id, b.id)
  );
}

/** How many rebuilds each node takes part in; grows as rebuilds are admitted. */
class RunningLoad {
  private readonly byTarget = new Map<NodeId, number>();
  private readonly bySource = new Map<NodeId, number>();
  private total = 0;

  constructor(private readonly view: RebuildQueueView) {
    for (const rebuild of [...view.running, ...view.ending]) this.add(rebuild);
  }

  add(rebuild: Rebuild): void {
    this.total += 1;
    increment(this.byTarget, rebuild.targetNodeId);
    for (const nodeId of rebuild.sourceNodeIds) increment(this.bySource, nodeId);
  }

  obstacleFor(rebuild: Rebuild): Waiting | undefined {
    const { settings, blocked } = this.view;
    if (rebuild.paused) return { reason: 'Paused', waitingFor: 'it is paused' };
    const task = blocked.find(({ volumeId }) => volumeId === rebuild.volumeId);
    if (task !== undefined) return blockText(task.reason);
    const clusterLimit = settings[CLUSTER_LIMIT];
    if (this.total >= clusterLimit) {
      return limited('ClusterLimit', 'the cluster runs', this.total, CLUSTER_LIMIT, clusterLimit);
    }
    const targetLimit = settings[TARGET_LIMIT];
    const received = this.byTarget.get(rebuild.targetNodeId) ?? 0;
    if (received >= targetLimit) {
      const target = this.nameOf(rebuild.targetNodeId);
      return limited('TargetNodeLimit', `${target} receives`, received, TARGET_LIMIT, targetLimit);
    }
    const sourceLimit = settings[SOURCE_LIMIT];
    const busy = rebuild.sourceNodeIds.find((nodeId) => (this.bySource.get(nodeId) ?? 0) >= sourceLimit);
    if (busy === undefined) return undefined;
    const sent = this.bySource.get(busy) ?? 0;
    return limited('SourceNodeLimit', `${this.nameOf(busy)} sends`, sent, SOURCE_LIMIT, sourceLimit);
  }

  private nameOf(nodeId: NodeId): string {
    return this.view.nodes.find(({ id }) => id === nodeId)?.name ?? nodeId;
  }
}

/** @param does the node that takes part, and how: `node-2 receives` */
function limited(
  reason: WaitingReason,
  does: string,
  count: number,
  setting: string,
  limit: number,
): Waiting {
  if (limit === 0) return { reason, waitingFor: `no rebuild may start: ${setting} is 0` };
  const rebuilds = count === 1 ? '1 rebuild' : `${count} rebuilds`;
  return { reason, waitingFor: `${does} ${rebuilds} (${setting} is ${limit})` };
}

function increment(counts: Map<NodeId, number>, nodeId: NodeId): void {
  counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
}
