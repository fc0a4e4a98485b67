import type { VolumeId } from '@holdfast/core/model/ids.js';
import { changedLabels, type LabelChanges, type Labels } from '@holdfast/core/model/labels.js';
import type { Volume, VolumeSpec } from '@holdfast/core/model/volume.js';
import { volumeEvent } from '@holdfast/core/model/volume-facts.js';
import { VOLUME_OVERRIDES } from '@holdfast/core/model/volume-overrides.js';
import { changedFields } from '@holdfast/core/policy/changed-fields.js';
import { decideLocality } from '@holdfast/core/policy/decide-locality.js';
import { assertVolumeSpec, patchedSpec, type VolumeSpecPatch } from '@holdfast/core/policy/volume-spec.js';
import type { Change, VolumeView } from '../ports/store.js';
import {
  assertNotDeleting,
  changedPart,
  hasToAct,
  loadVolume,
  retryConflicts,
  type UseCasePorts,
} from './use-case.js';

/** Fields of a volume that users may change. Only the named labels change. */
export type VolumePatchInput = VolumeSpecPatch & { labels?: LabelChanges | undefined };

/**
 * Changes the wanted state of a volume. The reconciler builds or removes copies to match.
 *
 * @throws StorageFault `request.invalid`, `volume.attached` for strict data locality
 */
export function patchVolume(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; patch: VolumePatchInput; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    const { volume } = view;
    const spec = wantedSpec(volume, input.patch);
    const labels = changedLabels(volume.labels, input.patch.labels ?? {});
    // Setting how it is balanced, even to the same, lets balancing go on that had stopped for copies that went to and fro.
    const resumed = input.patch.replicaAutoBalance === undefined ? {} : { balance: undefined };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      {
        kind: 'volume.patch',
        volumeId: volume.id,
        patch: { ...resumed, ...changedPart(volume, { labels }), spec, generation: volume.generation + 1 },
      },
      ...newGrants(view, spec),
      ...specNews(view, spec, labels, ports.clock.now()),
    ]);
  });
}

/**
 * The wanted state after the change.
 *
 * @throws StorageFault as the change itself
 */
export function wantedSpec(volume: Volume, patch: VolumeSpecPatch): VolumeSpec {
  assertNotDeleting(volume);
  const { name, lifecycle, spec: before } = volume;
  const spec = patchedSpec(before, patch);
  assertVolumeSpec(spec);
  hasToAct(decideLocality({ name, state: lifecycle.state }, before.dataLocality, spec.dataLocality));
  return spec;
}

/** Admission grants a running rebuild its bandwidth: the touch of its row has it grant again at once. */
function newGrants({ volume, rebuilds }: VolumeView, spec: VolumeSpec): Change[] {
  if (spec.replicaRebuildingBandwidthLimit === volume.spec.replicaRebuildingBandwidthLimit) return [];
  return rebuilds
    .filter(({ state }) => state === 'running')
    .map(({ id }) => ({ kind: 'rebuild.patch', rebuildId: id, ifState: 'running', patch: {} }));
}

const CHANGED_FIELDS = [
  'numberOfReplicas',
  'nodeSelector',
  'diskSelector',
  'dataLocality',
  ...VOLUME_OVERRIDES.map(({ field }) => field),
] as const;

function specNews(view: VolumeView, spec: VolumeSpec, labels: Labels | undefined, now: Date): Change[] {
  const { name, spec: before, labels: labelsBefore } = view.volume;
  const changed = [
    changedFields(before, spec, CHANGED_FIELDS) ?? [],
    changedFields({ labels: labelsBefore }, { labels }, ['labels']) ?? [],
  ].flat();
  if (changed.length === 0) return [];
  const message = `volume ${name}: ${changed.join('; ')}`;
  return [{ kind: 'event', event: volumeEvent(view, now, { type: 'VolumeChanged', message }) }];
}
