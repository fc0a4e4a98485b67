/** A copy's metadata as the control plane receives it, which may have lost its own rows about the volume. */
import { type CopyDescription, volumeDescriptionSchema } from '@holdfast/core/model/copy-description.js';
import { asId } from '@holdfast/core/model/ids.js';
import type { ReplicaMetadata } from '@holdfast/data-engine/replica/metadata.js';

export type DescribedMetadata = Pick<
  ReplicaMetadata,
  'volumeId' | 'diskId' | 'sizeBytes' | 'epoch' | 'grantId' | 'rebuildId' | 'secret' | 'volume'
>;

/** A description of the volume that this version can't read counts as none: the copy is whole without it. */
export function copyDescription(metadata: DescribedMetadata): CopyDescription {
  const { volumeId, diskId, sizeBytes, epoch, grantId, rebuildId, secret, volume } = metadata;
  return {
    volumeId: asId(volumeId),
    diskId: asId(diskId),
    sizeBytes,
    epoch,
    grantId: grantId ?? null,
    isRebuildTarget: rebuildId !== null,
    secret,
    volume: volumeDescriptionSchema.safeParse(volume).data ?? null,
  };
}
