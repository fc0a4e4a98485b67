import { StorageFault } from '@holdfast/core/model/faults.js';
import type { SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { actionFacts } from '@holdfast/core/policy/action-facts.js';
import { decideClone } from '@holdfast/core/policy/decide-snapshot.js';
import { type CreateVolumePorts, createVolume } from './create-volume.js';
import { requireSnapshot } from './snapshots.js';
import { assertNotDeleting, hasToAct, loadVolume } from './use-case.js';

/**
 * Creates a volume like another one, placed as any other, that will hold the content of a snapshot. It is `creating` until it is
 * filled. The source may be attached or not.
 *
 * @param input.sizeBytes left out: as large as the source
 * @throws StorageFault `snapshot.not_found`, `snapshot.in_use` when it can't be read, `request.invalid`, `volume.name_taken`
 */
export async function cloneVolume(
  ports: CreateVolumePorts,
  input: { volumeId: VolumeId; snapshotId: SnapshotId; name: string; sizeBytes?: number | undefined },
): Promise<VolumeId> {
  const view = await loadVolume(ports.store, input.volumeId, undefined);
  const { volume } = view;
  assertNotDeleting(volume);
  const snapshot = requireSnapshot(view, input.snapshotId);
  hasToAct(decideClone(actionFacts(view), snapshot));
  const { spec, organizationId, projectId, clusterId, grantedTags } = volume;
  const sizeBytes = input.sizeBytes ?? spec.sizeBytes;
  if (sizeBytes < spec.sizeBytes) {
    const detail = `must be at least the size of the source, ${spec.sizeBytes}`;
    throw new StorageFault('request.invalid', {
      publicMessage: `size ${detail}`,
      errors: [{ pointer: '/size', detail }],
    });
  }
  const fill = {
    sourceVolumeId: volume.id,
    snapshotId: snapshot.id,
    startedEpoch: undefined,
    trouble: undefined,
    requestedAt: ports.clock.now(),
  };
  const owner = { organizationId, projectId, clusterId, grantedTags, name: input.name };
  const created = await createVolume(ports, { ...spec, ...owner, sizeBytes, fill });
  return created.volumeId;
}
