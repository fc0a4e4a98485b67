import {
  type CreationRequest,
  identitiesNeeded,
  type NewVolume,
} from '@holdfast/core/lifecycle/decide-creation.js';
import {
  asId,
  type ClusterId,
  type OrganizationId,
  type ProjectId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { changedLabels, type Labels } from '@holdfast/core/model/labels.js';
import type { GrantedTags } from '@holdfast/core/model/volume.js';
import type { VolumeFill } from '@holdfast/core/model/volume-fill.js';
import type { VolumeSpecInput } from '@holdfast/core/policy/volume-spec.js';
import type { VolumeCreations } from '../ports/volume-creations.js';
import { StoreCreations } from './store-creations.js';
import type { UseCasePorts } from './use-case.js';

export type CreateVolumeInput = VolumeSpecInput & {
  organizationId: OrganizationId;
  projectId: ProjectId;
  clusterId: ClusterId;
  name: string;
  /** The snapshot that it is filled from before users may attach it. */
  fill?: VolumeFill;
  /** Requirements of the grant, in another organization's cluster. */
  grantedTags?: GrantedTags | undefined;
  labels?: Labels | undefined;
};

/** `creations` left out: a transaction for each. */
export type CreateVolumePorts = UseCasePorts & { creations?: VolumeCreations };

/**
 * Creates a volume and books a place for each of its replicas, all in one transaction.
 *
 * A replica without a place is no error: the volume exists with `Scheduled=False`, with the reason for each disk, and the worker
 * tries again. The worker also makes the replicas' directories.
 *
 * @throws StorageFault `request.invalid`, `volume.name_taken`
 */
export async function createVolume(
  ports: CreateVolumePorts,
  input: CreateVolumeInput,
): Promise<NewVolume & { volumeId: VolumeId }> {
  const creations = ports.creations ?? new StoreCreations(ports.store);
  const created = await creations.create(requestFor(ports, input));
  return { ...created, volumeId: created.volume.id };
}

function requestFor({ clock, random }: UseCasePorts, input: CreateVolumeInput): CreationRequest {
  const { organizationId, projectId, clusterId, name, fill, grantedTags, labels, ...spec } = input;
  return {
    volumeId: asId(random.id()),
    replicaIdentities: Array.from({ length: identitiesNeeded(spec) }, () => ({
      id: asId(random.id()),
      secret: random.secret(),
    })),
    organizationId,
    projectId,
    clusterId,
    name,
    spec,
    fill,
    grantedTags,
    labels: changedLabels(undefined, labels ?? {}),
    requestedAt: clock.now(),
  };
}
