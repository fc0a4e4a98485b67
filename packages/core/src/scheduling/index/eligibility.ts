/** The rules that no request changes: asked once per node and disk when it changes, not once per decision. */
import type { FleetView } from '../../lifecycle/views.js';
import type { StorageDisk, StorageNode } from '../../model/node.js';
import { diskAllowSchedulingFilter } from '../filters/disk-allow-scheduling.filter.js';
import { diskReadyFilter } from '../filters/disk-ready.filter.js';
import { engineAvailableFilter } from '../filters/engine-available.filter.js';
import { nodeAllowSchedulingFilter } from '../filters/node-allow-scheduling.filter.js';
import { nodeReadyFilter } from '../filters/node-ready.filter.js';
import { nodeSchedulableFilter } from '../filters/node-schedulable.filter.js';
import {
  beginCycle,
  type Check,
  type PlacementCycle,
  type PlacementRequest,
  prepareAll,
} from '../framework.js';
import { HOLDFAST_PROFILE } from '../profile.js';

/** A fleet without what is in it. */
export type FleetShell = Omit<FleetView, 'nodes' | 'disks'>;

export function nodeEligibilityCheck(shell: FleetShell): Check<StorageNode> {
  return prepareAll(
    [nodeReadyFilter, nodeSchedulableFilter, nodeAllowSchedulingFilter, engineAvailableFilter],
    cycleOf(shell),
  );
}

export function diskEligibilityCheck(shell: FleetShell): Check<StorageDisk> {
  return prepareAll([diskReadyFilter, diskAllowSchedulingFilter], cycleOf(shell));
}

function cycleOf(shell: FleetShell): PlacementCycle {
  return beginCycle(ANY_REQUEST, { ...shell, nodes: [], disks: [] }, HOLDFAST_PROFILE, new Date(0));
}

/** These rules read nothing of it but that it is not for reuse. */
const ANY_REQUEST: PlacementRequest = {
  sizeBytes: 0,
  writtenBytes: 0,
  dataEngine: 'v1',
  nodeSelector: [],
  diskSelector: [],
  nodeAntiAffinity: 'required',
  zoneAntiAffinity: 'required',
  diskAntiAffinity: 'required',
  replicas: [],
  requiredNodeId: undefined,
  localNodeId: undefined,
  topology: [],
  reuseDiskId: undefined,
};
