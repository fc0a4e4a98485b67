import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { VolumeSpec } from '@holdfast/core/model/volume.js';
import { overridesFrom } from '@holdfast/core/model/volume-overrides.js';
import { decideLocality } from '@holdfast/core/policy/decide-locality.js';
import { assertVolumeSpec } from '@holdfast/core/policy/volume-spec.js';
import { assertNotDeleting, hasToAct, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

/** What of a volume may change by a patch. Its size changes by `expand`, its engine never. */
export type VolumeSpecPatch = {
  [Field in Exclude<keyof VolumeSpec, 'sizeBytes' | 'dataEngine'>]?: VolumeSpec[Field] | undefined;
};

/**
 * Changes what is wanted of a volume. The reconciler builds or removes copies to match.
 *
 * @throws StorageFault `request.invalid`, `volume.attached` for strict data locality
 */
export function patchVolume(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; patch: VolumeSpecPatch; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const { volume } = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    assertNotDeleting(volume);
    const spec = patchedSpec(volume.spec, input.patch);
    assertVolumeSpec(spec);
    const { name, lifecycle } = volume;
    hasToAct(decideLocality({ name, state: lifecycle.state }, volume.spec.dataLocality, spec.dataLocality));
    // Setting how it is balanced, even to the same, lets balancing go on that had stopped for copies that went to and fro.
    const resumed = input.patch.replicaAutoBalance === undefined ? {} : { balance: undefined };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      {
        kind: 'volume.patch',
        volumeId: volume.id,
        patch: { ...resumed, spec, generation: volume.generation + 1 },
      },
    ]);
  });
}

function patchedSpec(spec: VolumeSpec, patch: VolumeSpecPatch): VolumeSpec {
  return {
    ...spec,
    numberOfReplicas: patch.numberOfReplicas ?? spec.numberOfReplicas,
    nodeSelector: patch.nodeSelector ?? spec.nodeSelector,
    diskSelector: patch.diskSelector ?? spec.diskSelector,
    dataLocality: patch.dataLocality ?? spec.dataLocality,
    ...overridesFrom(({ field }) => patch[field] ?? spec[field]),
  };
}
