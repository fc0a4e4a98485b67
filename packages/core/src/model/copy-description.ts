/**
 * Description of a copy: what it stores of itself and of its volume, beside the data.
 *
 * The control plane's database is the truth about volumes while it exists. When it is lost, or was restored from an old
 * backup, this is what a volume is made again from (docs/adr/0253-a-lost-database-is-read-back-from-the-copies.md).
 */
import { z } from 'zod';
import type { ClusterId, DiskId, OrganizationId, ProjectId, VolumeId } from './ids.js';
import { bytesField, counterField, idField, uuidField } from './message-fields.js';
import type { Volume } from './volume.js';

const place = z.string().min(1).max(128).optional();
const tags = z.array(z.string().min(1).max(128)).max(32);

/**
 * What a copy stores of its volume: enough to make its row again. Written when the copy is made and with each new
 * attachment, so it may be older than what users have set since. Versions that do not know it leave it out when they next
 * store the copy's metadata.
 */
export const volumeDescriptionSchema = z.object({
  name: z.string().min(1).max(63),
  clusterId: idField<ClusterId>(),
  organizationId: idField<OrganizationId>(),
  projectId: idField<ProjectId>(),
  numberOfReplicas: z.number().int().min(1).max(20),
  dataLocality: z.enum(['disabled', 'best-effort', 'strict-local']),
  nodeSelector: tags,
  diskSelector: tags,
  /** Said at a volume's creation, and at no other time. */
  topologyRequirement: z
    .array(z.object({ zone: place, region: place }))
    .max(32)
    .optional(),
});

/** GET /v1/replicas/{id}/description: what the copy stores of itself. 404 when there is none, or of an older agent. */
export const copyDescriptionSchema = z.object({
  volumeId: idField<VolumeId>(),
  diskId: idField<DiskId>(),
  sizeBytes: bytesField,
  /** The highest epoch at which it was opened. */
  epoch: counterField,
  /** The grant of that epoch; null if its engine named none. */
  grantId: uuidField.nullable(),
  /** True while it is the target of a rebuild that has not ended. */
  isRebuildTarget: z.boolean(),
  /** Key that the secrets of its engines and readers are made of. */
  secret: z.string().min(16).max(256),
  /** Null where the versions that wrote it stored none. */
  volume: volumeDescriptionSchema.nullable(),
});

export type VolumeDescription = z.infer<typeof volumeDescriptionSchema>;
export type CopyDescription = z.infer<typeof copyDescriptionSchema>;

export function describeVolume(volume: Volume): VolumeDescription {
  const { name, clusterId, organizationId, projectId, spec } = volume;
  const { numberOfReplicas, dataLocality, nodeSelector, diskSelector, topologyRequirement } = spec;
  return {
    name,
    clusterId,
    organizationId,
    projectId,
    numberOfReplicas,
    dataLocality,
    nodeSelector: [...nodeSelector],
    diskSelector: [...diskSelector],
    topologyRequirement: topologyRequirement.map((term) => ({ ...term })),
  };
}
