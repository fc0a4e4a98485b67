/** ProjectionInput of a forecast: a cluster at the moment after a change, with the volumes that the change or an earlier loss concerns. */
import { withCondition } from '../model/condition.js';
import type { StorageDisk, StorageNode } from '../model/node.js';
import type { FleetView, NodeVolumes } from '../model/views.js';
import type { LostPlaces } from '../scheduling/simulation/changed-fleet.js';

export type ForecastVolume = NodeVolumes['volumes'][number] & {
  /** False: it takes part, and is not reported (another tenant's). */
  readonly isVisible: boolean;
};

export type ProjectionInput = {
  /** With lost nodes and disks, which are not ready; drained nodes are cordoned and have their drain. */
  readonly fleet: FleetView;
  readonly volumes: readonly ForecastVolume[];
};

/** The fleet once the silence of lost nodes has been noticed: nodes and disks stay in it, as rows do. */
export function withFailedNodes(fleet: FleetView, { nodeIds, diskIds }: LostPlaces, now: Date): FleetView {
  const noticedAt = new Date(now.getTime() + fleet.settings['agent-heartbeat-timeout'] * 1000);
  const lostNode = (node: StorageNode): StorageNode => ({
    ...node,
    conditions: withCondition(node.conditions, { type: 'Ready', status: 'False', ...LOST }, noticedAt),
  });
  const lostDisk = (disk: StorageDisk): StorageDisk => ({
    ...disk,
    conditions: withCondition(disk.conditions, { type: 'Ready', status: 'False', ...LOST }, now),
  });
  return {
    ...fleet,
    nodes: fleet.nodes.map((node) => (nodeIds.has(node.id) ? lostNode(node) : node)),
    disks: fleet.disks.map((disk) => (diskIds.has(disk.id) ? lostDisk(disk) : disk)),
  };
}

const LOST = { reason: 'Lost', message: 'it is taken to be lost' } as const;
