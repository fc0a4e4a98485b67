/** Decision about a new volume: its spec, a place for each replica, and the explanation for those without one. */

import type { SpaceBooking } from '../model/changes.js';
import type { ClusterEvent } from '../model/event.js';
import type { ClusterId, NodeId, OrganizationId, ProjectId, ReplicaId, VolumeId } from '../model/ids.js';
import type { Labels } from '../model/labels.js';
import { newReplica, type Replica } from '../model/replica.js';
import type { ClusterSettings } from '../model/setting.js';
import type { StoredExplanation } from '../model/stored-explanation.js';
import { type GrantedTags, newVolume, REPLICA_COUNT_MAX, type Volume } from '../model/volume.js';
import type { VolumeFill } from '../model/volume-fill.js';
import { resolveVolumeSpec, type VolumeSpecInput } from '../policy/volume-spec.js';
import type { PlaceableVolume } from '../scheduling/framework/placement-request.js';
import type { PlacementPlan, PlannedPlacement } from '../scheduling/placement/plan-placements.js';
import { scheduledCondition, withSentence } from './scheduled-condition.js';

export type ReplicaIdentity = { readonly id: ReplicaId; readonly secret: string };

/**
 * A user's request with all its inputs: ids, secrets and the time. So a request that is decided again is still about the same volume.
 */
export type CreationRequest = {
  readonly volumeId: VolumeId;
  /** For as many replicas as the volume can have; unused ones are dropped. */
  readonly replicaIdentities: readonly ReplicaIdentity[];
  readonly organizationId: OrganizationId;
  readonly projectId: ProjectId;
  readonly clusterId: ClusterId;
  readonly name: string;
  readonly spec: VolumeSpecInput;
  /** The snapshot that it is filled from before users may attach it. */
  readonly fill: VolumeFill | undefined;
  /** Of the grant, in another organization's cluster. */
  readonly grantedTags?: GrantedTags | undefined;
  readonly labels?: Labels | undefined;
  readonly requestedAt: Date;
};

/** A cluster as the decision about a new volume sees it. Several decisions may follow one another on one of these. */
export interface PlacementFleet {
  readonly settings: ClusterSettings;
  /** Finds places for the replicas of a volume that has none yet. Decisions after this one see them as taken. */
  place(volume: PlaceableVolume, replicas: readonly Replica[], now: Date): PlacementPlan;
  /** Why one more replica beside these would find no place. */
  explain(volume: PlaceableVolume, placed: readonly Replica[], now: Date): StoredExplanation;
  zoneOf(nodeId: NodeId): string | undefined;
}

export type NewReplica = {
  readonly replica: Replica;
  readonly zone: string | undefined;
  /** `undefined` for a replica without a place. */
  readonly booking: SpaceBooking | undefined;
};

/** A decided volume: stored in one piece or not at all. */
export type NewVolume = {
  readonly volume: Volume;
  readonly replicas: readonly NewReplica[];
  readonly event: ClusterEvent;
};

export type CreationOptions = {
  /**
   * False: decides without any place. For a request that lost its places to others each time: a volume without places
   * is better than none, because the worker places it.
   */
  readonly takesPlaces: boolean;
};

export type DecideCreation = (
  request: CreationRequest,
  fleet: PlacementFleet,
  options: CreationOptions,
) => NewVolume;

/** Identities that a request needs: the wanted replicas, or as many as a default may be. */
export function identitiesNeeded({ numberOfReplicas }: VolumeSpecInput): number {
  return Math.min(numberOfReplicas ?? REPLICA_COUNT_MAX, REPLICA_COUNT_MAX);
}

/**
 * Decides a new volume. A replica without a place is no error: the volume has `Scheduled=False`, with the reason for each disk, and
 * its replicas are placed when there is room.
 *
 * @throws StorageFault `request.invalid`
 */
export const decideCreation: DecideCreation = (request, fleet, { takesPlaces }) => {
  const { settings } = fleet;
  const { name, requestedAt: now } = request;
  const spec = resolveVolumeSpec(name, request.spec, settings);
  const volume = newVolume({ ...request, id: request.volumeId, spec, createdAt: now });
  const unplaced = unplacedReplicas(request, volume);
  const { placements, refusals } = takesPlaces ? fleet.place(volume, unplaced, now) : NO_PLACES;
  const placedCount = placements.length;
  const replicas = unplaced.map((replica, index) => placedAt(replica, placements[index], fleet));
  const placed = replicas.map(({ replica }) => replica).slice(0, placedCount);
  const mayExplain = refusals !== undefined && volume.grantedTags === undefined;
  const explanation = mayExplain ? fleet.explain(volume, placed, now) : undefined;
  const condition = withSentence(
    scheduledCondition(volume, { placedCount, refusals, settings }),
    explanation,
  );
  return {
    volume: { ...volume, conditions: [{ ...condition, lastTransitionAt: now }] },
    replicas: replicas.map((one) => explainedBy(one, explanation)),
    event: created(volume, placedCount, now),
  };
};

const NO_PLACES: PlacementPlan = { placements: [], refusals: undefined };

function unplacedReplicas({ replicaIdentities }: CreationRequest, volume: Volume): Replica[] {
  const { numberOfReplicas, sizeBytes } = volume.spec;
  return replicaIdentities
    .slice(0, numberOfReplicas)
    .map(({ id, secret }) =>
      newReplica({ id, secret, volumeId: volume.id, sizeBytes, createdAt: volume.createdAt }),
    );
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

/** A replica without a place says why. All of a volume's replicas ask the same question, so there is one answer. */
function explainedBy(made: NewReplica, explanation: StoredExplanation | undefined): NewReplica {
  if (explanation === undefined || made.booking !== undefined) return made;
  const { replica } = made;
  return { ...made, replica: { ...replica, explanation: { ...explanation, replicaId: replica.id } } };
}

function created(volume: Volume, placedCount: number, now: Date): ClusterEvent {
  return {
    clusterId: volume.clusterId,
    type: 'VolumeCreated',
    subject: { kind: 'volume', id: volume.id },
    volumeId: volume.id,
    message: `volume ${volume.name} created, ${placedCount} of ${volume.spec.numberOfReplicas} replicas placed`,
    at: now,
  };
}
