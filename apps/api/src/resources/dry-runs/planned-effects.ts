/** Planners for routes that move or destroy data: the effects on copies and data, without changing anything. */
import type { VolumeView } from '@holdfast/control/ports/store.js';
import {
  asId,
  type ClusterId,
  type DiskId,
  type NodeId,
  type ReplicaId,
  type SnapshotId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { isEvictingPolicy } from '@holdfast/core/model/node-drain.js';
import {
  diskRemovalNotes,
  maintenanceNotes,
  nodeDeletionNotes,
} from '@holdfast/core/policy/absence-notes.js';
import {
  effectOn,
  effectsOfDeletion,
  effectsOfEviction,
  effectsOfForgetting,
  effectsOfRemoval,
  effectsOfSalvage,
} from '@holdfast/core/policy/copy-effects.js';
import { detachNotes } from '@holdfast/core/policy/decide-detach.js';
import { drainPolicyOf } from '@holdfast/core/policy/decide-drain.js';
import { forgetNotes } from '@holdfast/core/policy/decide-forget.js';
import { deletionNotes, growthNotes, revertNotes } from '@holdfast/core/policy/layer-notes.js';
import type { DryRequest, DryRunPlanner, PlannedEffects } from '../../access/dry-run-planner.js';
import type { Tenant } from '../../access/tenant.js';

const NO_COPIES: PlannedEffects = { copies: [], notes: [] };

/** For a route that affects no copies, or whose changed fields say everything. */
export const noCopies: DryRunPlanner = async () => NO_COPIES;

export function noteOnly(...notes: string[]): DryRunPlanner {
  return async () => ({ copies: [], notes });
}

/** A planner over the volume that the address names, as the worker sees it. */
export function ofVolume(plan: (view: VolumeView, request: DryRequest) => PlannedEffects): DryRunPlanner {
  return async (tenant, request) => {
    const view = await tenant.ports.store.loadVolume(asId<VolumeId>(request.parameters.volumeId ?? ''));
    return view === undefined ? NO_COPIES : plan(view, request);
  };
}

export const volumeDeletion = ofVolume((view) => ({
  copies: effectsOfDeletion(view),
  notes: view.snapshots.length === 0 ? [] : [`${view.snapshots.length} snapshots go with it`],
}));

export const replicaRemoval = ofVolume((view, { parameters }) => ({
  copies: effectsOfRemoval(view, asId<ReplicaId>(parameters.replicaId ?? '')),
  notes: [],
}));

export const replicaMove = ofVolume((view, { parameters }) => ({
  copies: view.replicas
    .filter(({ id }) => id === parameters.replicaId)
    .map((replica) => effectOn(view, replica, 'moved')),
  notes: [],
}));

export const salvage = ofVolume((view, { body }) => ({
  copies: effectsOfSalvage(view, textsOf(body.replicaIds)),
  notes: ['writes that only the other copies hold are lost'],
}));

export const choice = ofVolume((view, { body }) => ({
  copies: effectsOfSalvage(view, textsOf(body.replicaIds)),
  notes: ['what only the other copies hold is lost'],
}));

export const snapshotDeletion = ofVolume((view, { parameters }) => ({
  copies: [],
  notes: deletionNotes(view, asId<SnapshotId>(parameters.snapshotId ?? '')),
}));

export const revert = ofVolume((view, { body }) => ({
  copies: [],
  notes: revertNotes(view, asId<SnapshotId>(String(body.snapshotId).toLowerCase())),
}));

export const growth = ofVolume((view, { body }) => ({
  copies: [],
  notes: growthNotes(view, Number(body.size)),
}));

export const detachment = ofVolume((view, { body }) => ({
  copies: [],
  notes: detachNotes(view, body.force === true),
}));

export const nodeDrain: DryRunPlanner = async (tenant, { parameters, body }) => {
  const node = await loadNode(tenant, parameters);
  const policy = drainPolicyOf(typeof body.policy === 'string' ? body.policy : undefined, node.fleet);
  if (policy === undefined || !isEvictingPolicy(policy))
    return { copies: [], notes: [`under the policy ${policy ?? ''} no copy is moved`] };
  return { copies: effectsOfEviction(node, ({ nodeId }) => nodeId === parameters.nodeId), notes: [] };
};

/** A change of a node or disk moves copies if it requests eviction. */
export const placeChange: DryRunPlanner = async (tenant, { parameters, body }) => {
  if (body.evictionRequested !== true) return NO_COPIES;
  const node = await loadNode(tenant, parameters);
  const diskId: DiskId | undefined =
    parameters.diskId === undefined ? undefined : asId<DiskId>(parameters.diskId);
  const copies = effectsOfEviction(node, (replica) =>
    diskId === undefined ? replica.nodeId === parameters.nodeId : replica.diskId === diskId,
  );
  return { copies, notes: [] };
};

export const maintenance: DryRunPlanner = async (tenant, { parameters }) => {
  const { volumes } = await loadNode(tenant, parameters);
  return { copies: [], notes: maintenanceNotes(volumes, asId<NodeId>(parameters.nodeId ?? '')) };
};

export const diskRemoval: DryRunPlanner = async (tenant, { parameters }) => {
  const { fleet } = await loadNode(tenant, parameters);
  return { copies: [], notes: diskRemovalNotes(fleet.disks, asId<DiskId>(parameters.diskId ?? '')) };
};

/** Its copies are removed, and a replacement is built for each whose volume has a full copy elsewhere. */
export const nodeForget: DryRunPlanner = async (tenant, { parameters }) => {
  const view = await loadNode(tenant, parameters);
  const nodeId = asId<NodeId>(parameters.nodeId ?? '');
  return { copies: effectsOfForgetting(view, nodeId), notes: forgetNotes(nodeId, view) };
};

export const nodeDeletion: DryRunPlanner = async (tenant, { parameters }) => {
  const { fleet } = await loadNode(tenant, parameters);
  return { copies: [], notes: nodeDeletionNotes(fleet.disks, asId<NodeId>(parameters.nodeId ?? '')) };
};

function loadNode(tenant: Tenant, { clusterId = '', nodeId = '' }: DryRequest['parameters']) {
  return tenant.ports.store.loadNodeVolumes(asId<ClusterId>(clusterId), asId<NodeId>(nodeId));
}

function textsOf(value: unknown): ReplicaId[] {
  return Array.isArray(value) ? value.map((one) => asId<ReplicaId>(String(one).toLowerCase())) : [];
}
