/**
 * Description of a copy: its stored metadata about itself and its volume, beside the data.
 *
 * The control plane's database is the truth about volumes while it exists. When it is lost, or was restored from an old backup,
 * volumes are recovered from these (docs/adr/0253-recovery-from-copies.md).
 */
import { z } from 'zod';
import { cronProblem } from './cron.js';
import type { ClusterId, DiskId, OrganizationId, ProjectId, VolumeId } from './ids.js';
import { LABEL_KEY, LABEL_VALUE, LABELS_MAX } from './labels.js';
import { bytesField, counterField, idField, nameField, uuidField } from './message-fields.js';
import { RECURRING_SNAPSHOTS_MAX, RETAIN_MAX, RETAIN_MIN } from './recurring-snapshot.js';
import type { Volume } from './volume.js';
import {
  followingValue,
  overrideBounds,
  overrideWords,
  VOLUME_OVERRIDES,
  type VolumeOverride,
  type VolumeOverrides,
} from './volume-overrides.js';

const place = nameField(128).optional();
const tags = z.array(nameField(128)).max(32);

/** An answer that this version does not know counts as none: the volume then follows its cluster in that. */
function overrideSchema(override: VolumeOverride) {
  const words = overrideWords(override);
  const { min, max } = overrideBounds(override) ?? { min: 0, max: Number.MAX_SAFE_INTEGER };
  const known: z.ZodType<string | number> =
    words === undefined ? z.number().min(min).max(max) : z.enum(words);
  return known.optional().catch(undefined);
}

// Each schema takes the values that the type of its field is made of, by the same definition.
const overrides = z.object(
  Object.fromEntries(VOLUME_OVERRIDES.map((override) => [override.field, overrideSchema(override)])),
) as unknown as z.ZodType<Partial<VolumeOverrides>>;

const labels = z
  .record(z.string().regex(LABEL_KEY), z.string().regex(LABEL_VALUE))
  .refine((all) => Object.keys(all).length <= LABELS_MAX);

const schedule = z.object({
  name: nameField(63),
  cron: z
    .string()
    .max(100)
    .refine((text) => cronProblem(text) === undefined),
  retain: z.int().min(RETAIN_MIN).max(RETAIN_MAX),
});

/**
 * A copy's description of its volume: enough to make its row again. Written when the copy is made and with each new attachment, so it
 * may be older than the users' last changes. Versions that do not know it leave it out when they next store the copy's metadata.
 */
export const volumeDescriptionSchema = z.object({
  name: nameField(63),
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
  // A volume is whole without these three, so what can't be read of them is left out.
  labels: labels.optional().catch(undefined),
  /** Its own overrides of cluster settings; those that follow the cluster are left out. */
  overrides: overrides.optional().catch(undefined),
  /** Of recurring snapshots. */
  schedules: z.array(schedule).max(RECURRING_SNAPSHOTS_MAX).optional().catch(undefined),
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
  secret: nameField(256).min(16),
  /** Null where the versions that wrote it stored none. */
  volume: volumeDescriptionSchema.nullable(),
});

export type VolumeDescription = z.infer<typeof volumeDescriptionSchema>;
export type CopyDescription = z.infer<typeof copyDescriptionSchema>;

export function describeVolume(volume: Volume): VolumeDescription {
  const { name, clusterId, organizationId, projectId, spec, labels, recurringSnapshots } = volume;
  const own = VOLUME_OVERRIDES.filter((override) => spec[override.field] !== followingValue(override));
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
    ...(labels === undefined ? {} : { labels: { ...labels } }),
    overrides: Object.fromEntries(own.map(({ field }) => [field, spec[field]])),
    schedules: recurringSnapshots.map(({ name, cron, retain }) => ({ name, cron, retain })),
  };
}
