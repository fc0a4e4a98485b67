/**
 * Reconciler of a cluster: liveness of nodes, ends of maintenance windows, admission of rebuilds and background tasks, orphans.
 *
 * Keeps no state between runs that matters: `settledDisks` only saves work. A change of a node, a disk or a setting leaves a fan-out
 * in the store, of which each run does some batches; a worker that dies leaves the rest to the next run, at most a sweep later.
 */

import { isDiskPressed } from '@holdfast/core/balance/pressure-move.js';
import { conditionOf, withCondition } from '@holdfast/core/model/condition.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { disksByNode } from '@holdfast/core/model/fleet-lookup.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { isNodeReady, type StorageDisk, type StorageNode } from '@holdfast/core/model/node.js';
import { diskSchedulableCondition } from '@holdfast/core/policy/disk-conditions.js';
import { diskEvent, diskPressureNews } from '@holdfast/core/policy/disk-events.js';
import { nodeReadyCondition, nodeSchedulableCondition } from '@holdfast/core/policy/node-conditions.js';
import { nodeChangeEvents, readinessEvent } from '@holdfast/core/policy/node-events.js';
import { agentState } from '@holdfast/core/policy/node-liveness.js';
import type { Change, FleetView } from '../ports/store.js';
import { admitWork } from './admit-work.js';
import { reconcileDrains } from './reconcile-drains.js';
import { reconcileForgotten } from './reconcile-forgotten.js';
import { reconcileOrphans } from './reconcile-orphans.js';
import type { ReconcilerPorts } from './reconciler-ports.js';

/** Volumes per batch of a fan-out: a transaction that locks as many rows for some ten milliseconds. */
const FAN_OUT_BATCH = 500;
/** 10,000 volumes, more than one node holds. The rest of the cluster's work waits meanwhile. */
const FAN_OUT_BATCHES_MAX = 20;

export async function reconcileCluster(ports: ReconcilerPorts, clusterId: ClusterId): Promise<void> {
  const fleet = await ports.store.loadFleet(clusterId);
  for (const node of fleet.nodes) {
    const changes = nodeChanges(ports, fleet, node);
    if (changes.length > 0) await commitNode(ports, node, changes);
  }
  const current = await ports.store.loadFleet(clusterId);
  const disks = disksByNode(current.disks);
  for (const node of current.nodes) {
    const changes = diskChanges(ports, current, node, disks.get(node.id) ?? []);
    if (changes.length > 0) await commitNode(ports, node, changes);
  }
  await fanOutChanges(ports, clusterId);
  await reconcileDrains(ports, clusterId);
  await reconcileForgotten(ports, clusterId);
  await admitWork(ports, clusterId);
  await reconcileOrphans(ports, clusterId);
}

/**
 * Marks and wakes the volumes that changes of nodes and disks concern. A setting concerns every volume of the cluster: one batch a
 * run, so that they don't precede what users wait for.
 */
async function fanOutChanges({ store }: ReconcilerPorts, clusterId: ClusterId): Promise<void> {
  try {
    for (let batches = 0; batches < FAN_OUT_BATCHES_MAX; batches += 1) {
      const batch = await store.fanOut(clusterId, FAN_OUT_BATCH);
      if (batch === undefined || batch.of === 'cluster') return;
    }
  } catch (error) {
    // Another transaction held the same volumes: the next run does this batch.
    if (!isFault(error, 'store.conflict')) throw error;
  }
}

function nodeChanges(ports: ReconcilerPorts, fleet: FleetView, node: StorageNode): Change[] {
  const now = ports.clock.now();
  // Heartbeats are stamped by the database's clock, and silence counts only while it could have been heard.
  const judging = fleet.listening ?? { now, since: ports.startedAt };
  const agent = agentState(node, fleet.settings, judging);
  const isAlive = agent === 'heard';
  const ready = nodeReadyCondition(agent, node.name);
  const isOver = node.maintenance !== undefined && node.maintenance.until.getTime() <= now.getTime();
  const after = isOver ? { ...node, maintenance: undefined } : node;
  const schedulable = nodeSchedulableCondition(after, fleet.settings);
  const isReadyChanged = conditionOf(node.conditions, 'Ready')?.status !== ready.status;
  const isSchedulableChanged = conditionOf(node.conditions, 'Schedulable')?.status !== schedulable.status;
  if (!isReadyChanged && !isSchedulableChanged && !isOver) return [];

  const conditions = withCondition(withCondition(node.conditions, ready, now), schedulable, now);
  const wasAway = conditionOf(node.conditions, 'Ready')?.status === 'False';
  const returnedAt = isAlive && wasAway ? now : node.returnedAt;
  const patch = {
    conditions,
    ...(isOver ? { maintenance: undefined } : {}),
    ...(isReadyChanged && isAlive ? { returnedAt } : {}),
  };
  const changes: Change[] = [
    { kind: 'node.patch', nodeId: node.id, patch },
    ...nodeChangeEvents(node, after, now).map((event): Change => ({ kind: 'event', event })),
  ];
  if (isReadyChanged) changes.push({ kind: 'event', event: readinessEvent(node, isAlive, now) });
  return changes;
}

/** Disk rows whose conditions are current, and the settings under which they were judged. Time alone changes none of them. */
const settledDisks = new WeakMap<
  StorageDisk,
  { readonly isReady: boolean; readonly settings: FleetView['settings'] }
>();

/**
 * Shows which disks take replicas, and notes which are under pressure. Neither placement nor balance reads it: they ask the
 * same formulas themselves.
 */
function diskChanges(
  ports: ReconcilerPorts,
  fleet: FleetView,
  node: StorageNode,
  disks: readonly StorageDisk[],
): Change[] {
  const now = ports.clock.now();
  const isReady = isNodeReady(node);
  const { settings } = fleet;
  return disks.flatMap((disk): Change[] => {
    const known = settledDisks.get(disk);
    if (known?.isReady === isReady && known.settings === settings) return [];
    const before = conditionOf(disk.conditions, 'Schedulable');
    const next = diskSchedulableCondition(disk, isReady, settings);
    const isShown = before?.status === next.status && before.reason === next.reason;
    const pressedAt = isDiskPressed(disk, settings) ? (disk.pressedAt ?? now) : undefined;
    const isPressureKnown = pressedAt?.getTime() === disk.pressedAt?.getTime();
    if (isShown && isPressureKnown) {
      settledDisks.set(disk, { isReady, settings });
      return [];
    }
    const conditions = withCondition(disk.conditions, next, now);
    const news = diskPressureNews(`${disk.name} of node ${node.name}`, disk.conditions, conditions);
    const told: Change[] =
      news === undefined ? [] : [{ kind: 'event', event: diskEvent(fleet.clusterId, disk, news, now) }];
    // The pressure concerns the volumes there, which auto-balance may move; the condition is only shown.
    const patch = isPressureKnown ? { conditions } : { conditions, pressedAt };
    return [{ kind: 'disk.patch', diskId: disk.id, patch }, ...told];
  });
}

/** Does nothing when a heartbeat or another worker changed the node meanwhile: the next run judges it anew. */
async function commitNode(
  { store }: ReconcilerPorts,
  node: StorageNode,
  changes: readonly Change[],
): Promise<void> {
  try {
    await store.commit({ kind: 'node', nodeId: node.id, ifVersion: node.version }, changes);
  } catch (error) {
    if (!isFault(error, 'store.conflict')) throw error;
  }
}
