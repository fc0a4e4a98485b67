/** Eligibility of nodes and disks: the filters that read no request. Asked when a node or disk changes, not per decision. */

import type { StorageDisk, StorageNode } from '../../model/node.js';
import type { FleetView } from '../../model/views.js';
import { PLACEMENT_RULES } from '../filters/rules.js';
import {
  beginCycle,
  type Check,
  type IndexUse,
  type PlacementCycle,
  prepareAll,
} from '../framework/framework.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { HOLDFAST_PROFILE } from '../placement/profile.js';

/** A fleet's settings and identity, without its nodes and disks. */
export type FleetShell = Omit<FleetView, 'nodes' | 'disks'>;

export function nodeEligibilityCheck(shell: FleetShell): Check<StorageNode> {
  const { nodeFilters, nodeTagFilters } = PLACEMENT_RULES;
  return prepareAll([...nodeFilters, ...nodeTagFilters].filter(readsNoRequest), cycleOf(shell));
}

export function diskEligibilityCheck(shell: FleetShell): Check<StorageDisk> {
  return prepareAll(PLACEMENT_RULES.diskFilters.filter(readsNoRequest), cycleOf(shell));
}

function readsNoRequest({ inIndex }: { readonly inIndex: IndexUse }): boolean {
  return inIndex === 'state';
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
