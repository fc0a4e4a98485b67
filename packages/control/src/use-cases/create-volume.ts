import { scheduledCondition } from '@holdfast/core/lifecycle/scheduled-condition.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import {
  asId,
  type ClusterId,
  type OrganizationId,
  type ProjectId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { newReplica, type Replica } from '@holdfast/core/model/replica.js';
import type { Volume, VolumeSpec } from '@holdfast/core/model/volume.js';
import { resolveVolumeSpec, type VolumeSpecInput } from '@holdfast/core/policy/volume-spec.js';
import { type PlacementPlan, planPlacements } from '@holdfast/core/scheduling/plan-placements.js';
import type { Random } from '../ports/clock.js';
import type { Change, FleetView } from '../ports/store.js';
import { retryConflicts, type UseCasePorts } from './use-case.js';

export type CreateVolumeInput = VolumeSpecInput & {
  organizationId: OrganizationId;
  projectId: ProjectId;
  clusterId: ClusterId;
  name: string;
};

/**
 * Creates a volume and books a place for each of its replicas, all in one transaction.
 *
 * What fits nowhere is no error: the volume exists with `Scheduled=False`, which says why per disk, and the worker
 * tries again. The replicas' directories are made by the worker too.
 *
 * @throws StorageFault `request.invalid`, `volume.name_taken`
 */
export function createVolume(ports: UseCasePorts, input: CreateVolumeInput): Promise<{ volumeId: VolumeId }> {
  return retryConflicts(async (isLast) => {
    const now = ports.clock.now();
    const fleet = await ports.store.loadFleet(input.clusterId);
    const spec = resolveVolumeSpec(input.name, input, fleet.settings);
    const volume = newVolume(input, spec, asId(ports.random.id()), now);
    const replicas = Array.from({ length: spec.numberOfReplicas }, () =>
      unplacedReplica(volume, ports.random, now),
    );
    // Others may book the same space faster every time. A volume without places is better than none: the worker
    // places it.
    const plan = isLast ? NOTHING_PLACED : planPlacements(volume, [], replicas, fleet, now);
    await ports.store.commit({ kind: 'new' }, changesFor(volume, replicas, plan, fleet, now));
    return { volumeId: volume.id };
  });
}

const NOTHING_PLACED: PlacementPlan = { placements: [], refusals: undefined };

function changesFor(
  volume: Volume,
  replicas: readonly Replica[],
  plan: PlacementPlan,
  fleet: FleetView,
  now: Date,
): Change[] {
  const placed = replicas.map((replica, index): Change => {
    const placement = plan.placements[index];
    if (placement === undefined) return { kind: 'replica.create', replica, booking: undefined };
    const { nodeId, booking } = placement;
    return { kind: 'replica.create', replica: { ...replica, nodeId, diskId: booking.diskId }, booking };
  });
  const condition = scheduledCondition(volume, {
    placedCount: plan.placements.length,
    refusals: plan.refusals,
    settings: fleet.settings,
  });
  return [
    { kind: 'volume.create', volume: { ...volume, conditions: [{ ...condition, lastTransitionAt: now }] } },
    ...placed,
    { kind: 'event', event: created(volume, plan.placements.length, now) },
  ];
}

function newVolume(input: CreateVolumeInput, spec: VolumeSpec, id: VolumeId, now: Date): Volume {
  return {
    id,
    organizationId: input.organizationId,
    projectId: input.projectId,
    clusterId: input.clusterId,
    name: input.name,
    spec,
    generation: 1,
    observedGeneration: 0,
    state: 'creating',
    robustness: 'unknown',
    attachment: undefined,
    detachForced: false,
    attachedNodeId: undefined,
    epoch: 0,
    engineBootId: undefined,
    endpoint: undefined,
    attachmentSecret: undefined,
    record: undefined,
    lastDegradedAt: undefined,
    attention: undefined,
    conditions: [],
    writtenBytes: 0,
    verification: undefined,
    deletionRequestedAt: undefined,
    createdAt: now,
    version: 1,
  };
}

function unplacedReplica(volume: Volume, random: Random, now: Date): Replica {
  return newReplica({
    id: asId(random.id()),
    volumeId: volume.id,
    sizeBytes: volume.spec.sizeBytes,
    secret: random.secret(),
    createdAt: now,
  });
}

function created(volume: Volume, placedCount: number, now: Date): ClusterEvent {
  return {
    clusterId: volume.clusterId,
    type: 'VolumeCreated',
    severity: 'info',
    subject: { kind: 'volume', id: volume.id },
    volumeId: volume.id,
    message: `volume ${volume.name} created, ${placedCount} of ${volume.spec.numberOfReplicas} replicas placed`,
    at: now,
  };
}
