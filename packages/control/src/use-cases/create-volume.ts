import { scheduledCondition, withSentence } from '@holdfast/core/lifecycle/scheduled-condition.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import {
  asId,
  type ClusterId,
  type OrganizationId,
  type ProjectId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { newReplica, type Replica } from '@holdfast/core/model/replica.js';
import type { StoredExplanation } from '@holdfast/core/model/stored-explanation.js';
import type { Volume, VolumeSpec } from '@holdfast/core/model/volume.js';
import type { VolumeFill } from '@holdfast/core/model/volume-fill.js';
import { resolveVolumeSpec, type VolumeSpecInput } from '@holdfast/core/policy/volume-spec.js';
import type { PlannedPlacement } from '@holdfast/core/scheduling/plan-placements.js';
import { StoreCreations } from '../creation/store-creations.js';
import type { Random } from '../ports/clock.js';
import type { NewReplica, NewVolume, PlacementFleet, VolumeCreations } from '../ports/volume-creations.js';
import type { UseCasePorts } from './use-case.js';

export type CreateVolumeInput = VolumeSpecInput & {
  organizationId: OrganizationId;
  projectId: ProjectId;
  clusterId: ClusterId;
  name: string;
  /** The snapshot that it is filled from before users may attach it. */
  fill?: VolumeFill;
};

/** `creations` left out: the store alone, one transaction for each. */
export type CreateVolumePorts = UseCasePorts & { creations?: VolumeCreations };

/**
 * Creates a volume and books a place for each of its replicas, all in one transaction.
 *
 * What fits nowhere is no error: the volume exists with `Scheduled=False`, which says why per disk, and the worker
 * tries again. The replicas' directories are made by the worker too.
 *
 * @throws StorageFault `request.invalid`, `volume.name_taken`
 */
export async function createVolume(
  ports: CreateVolumePorts,
  input: CreateVolumeInput,
): Promise<NewVolume & { volumeId: VolumeId }> {
  const creations = ports.creations ?? new StoreCreations(ports.store);
  // Taken once: a decision that is made anew is still about the same volume.
  const volumeId = asId<VolumeId>(ports.random.id());
  const created = await creations.create(input.clusterId, (fleet, isLast) =>
    decideVolume(ports, input, volumeId, isLast ? withoutPlaces(fleet) : fleet),
  );
  return { ...created, volumeId };
}

/** Others may book the same space faster every time. A volume without places is better than none: the worker places it. */
function withoutPlaces(fleet: PlacementFleet): PlacementFleet {
  return {
    settings: fleet.settings,
    place: () => ({ placements: [], refusals: undefined }),
    explain: (volume, placed, now) => fleet.explain(volume, placed, now),
    zoneOf: () => undefined,
  };
}

function decideVolume(
  { clock, random }: UseCasePorts,
  input: CreateVolumeInput,
  volumeId: VolumeId,
  fleet: PlacementFleet,
): NewVolume {
  const now = clock.now();
  const spec = resolveVolumeSpec(input.name, input, fleet.settings);
  const volume = newVolume(input, spec, volumeId, now);
  const unplaced = Array.from({ length: spec.numberOfReplicas }, () => unplacedReplica(volume, random, now));
  const { placements, refusals } = fleet.place(volume, unplaced, now);
  const placedCount = placements.length;
  const replicas = unplaced.map((replica, index) => placedAt(replica, placements[index], fleet));
  const placed = replicas.map(({ replica }) => replica).slice(0, placedCount);
  const explanation = refusals === undefined ? undefined : fleet.explain(volume, placed, now);
  const condition = withSentence(
    scheduledCondition(volume, { placedCount, refusals, settings: fleet.settings }),
    explanation,
  );
  return {
    volume: { ...volume, conditions: [{ ...condition, lastTransitionAt: now }] },
    replicas: replicas.map((one) => explainedBy(one, explanation)),
    event: created(volume, placedCount, now),
  };
}

function placedAt(
  replica: Replica,
  placement: PlannedPlacement | undefined,
  fleet: PlacementFleet,
): NewReplica {
  if (placement === undefined) return { replica, zone: undefined, booking: undefined };
  const { nodeId, booking } = placement;
  return { replica: { ...replica, nodeId, diskId: booking.diskId }, zone: fleet.zoneOf(nodeId), booking };
}

/** A replica without a place says why. They all ask the same question, so there is one answer. */
function explainedBy(created: NewReplica, explanation: StoredExplanation | undefined): NewReplica {
  if (explanation === undefined || created.booking !== undefined) return created;
  const { replica } = created;
  return { ...created, replica: { ...replica, explanation: { ...explanation, replicaId: replica.id } } };
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
    explanation: undefined,
    writtenBytes: 0,
    verification: undefined,
    chain: undefined,
    fill: input.fill,
    layerTask: undefined,
    recurringSnapshots: [],
    integrityCheckedAt: undefined,
    hashing: undefined,
    taskAdmittedAt: undefined,
    rebuildHold: undefined,
    survey: undefined,
    salvage: undefined,
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
