/** Eligibility of nodes and disks: the filters that read no request. Asked when a node or disk changes, not per decision. */

import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { FleetView } from '../../model/views.js';
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

/** A fleet's settings and identity, without its nodes and disks. */
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

/** A request for these filters, which read nothing of it. */
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
