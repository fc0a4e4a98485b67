import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { VolumeSpec } from '@holdfast/core/model/volume.js';
import { volumeEvent } from '@holdfast/core/model/volume-facts.js';
import { overridesFrom, VOLUME_OVERRIDES } from '@holdfast/core/model/volume-overrides.js';
import { changedFields } from '@holdfast/core/policy/changed-fields.js';
import { assertVolumeSpec } from '@holdfast/core/policy/volume-spec.js';
import type { Change, VolumeView } from '../ports/store.js';
import { assertNotDeleting, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

/** What of a volume may change by a patch. Its size changes by `expand`, its engine never. */
export type VolumeSpecPatch = {
  [Field in Exclude<keyof VolumeSpec, 'sizeBytes' | 'dataEngine'>]?: VolumeSpec[Field] | undefined;
};

/**
 * Changes what is wanted of a volume. The reconciler builds or removes copies to match.
 *
 * @throws StorageFault `request.invalid`
 */
export function patchVolume(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; patch: VolumeSpecPatch; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    const { volume } = view;
    assertNotDeleting(volume);
    const spec = patchedSpec(volume.spec, input.patch);
    assertVolumeSpec(spec);
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch: { spec, generation: volume.generation + 1 } },
      ...specNews(view, spec, ports.clock.now()),
    ]);
  });
}

const CHANGED_FIELDS = [
  'numberOfReplicas',
  'nodeSelector',
  'diskSelector',
  'dataLocality',
  ...VOLUME_OVERRIDES.map(({ field }) => field),
] as const;

function specNews(view: VolumeView, spec: VolumeSpec, now: Date): Change[] {
  const { name, spec: before } = view.volume;
  const changed = changedFields(before, spec, CHANGED_FIELDS);
  if (changed === undefined) return [];
  const message = `volume ${name}: ${changed}`;
  return [{ kind: 'event', event: volumeEvent(view, now, { type: 'VolumeChanged', message }) }];
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
