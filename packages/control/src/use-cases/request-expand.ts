import { expansionCancelled } from '@holdfast/core/lifecycle/conclude-layer-task.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { layerTaskOf } from '@holdfast/core/model/volume-task.js';
import { decideExpansion } from '@holdfast/core/policy/decide-expansion.js';
import { changeVolume, taskPatch } from './snapshots.js';
import { faultOf, type UseCasePorts } from './use-case.js';

/**
 * Requests an expansion, and books its space on the disks of its replicas in the same commit. The size changes when all copies have
 * grown; the worker attaches a detached volume for that. Requesting the present size, or the one it is growing to, changes nothing.
 *
 * @throws StorageFault `request.invalid` for a smaller size, `volume.expansion_impossible` with the reason for each disk,
 * `volume.not_attached`, `volume.busy`
 */
export function requestExpand(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; sizeBytes: number; ifVersion?: number | undefined },
): Promise<void> {
  const { volumeId, sizeBytes, ifVersion } = input;
  return changeVolume(
    ports,
    volumeId,
    (view) => {
      const decision = decideExpansion(view, sizeBytes);
      if (decision.kind === 'unchanged') return [];
      if (decision.kind === 'allow') {
        const fromBytes = view.volume.spec.sizeBytes;
        return [taskPatch(ports, view, { kind: 'expand', sizeBytes, fromBytes }), ...decision.changes];
      }
      const isWrongSize = decision.code === 'request.invalid';
      throw faultOf(decision, isWrongSize ? [{ pointer: '/size', detail: decision.why }] : []);
    },
    ifVersion,
  );
}

/** Cancels an expansion and returns what is booked for it. Without one nothing changes. @throws StorageFault `volume.not_found` */
export function cancelExpand(ports: UseCasePorts, input: { volumeId: VolumeId }): Promise<void> {
  return changeVolume(ports, input.volumeId, (view) => {
    const task = layerTaskOf(view.volume);
    return task?.kind === 'expand' ? expansionCancelled(view, task, ports.clock.now()) : [];
  });
}
