import { StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { decideExpansion } from '@holdfast/core/policy/decide-expansion.js';
import { changeVolume, taskPatch } from './snapshots.js';
import { assertAttached, type UseCasePorts } from './use-case.js';

/**
 * Asks for the volume to grow, and books what it needs on the disks of its replicas in the same commit. Its size changes
 * when all copies have grown. Asking for the size it has, or is growing to, changes nothing.
 *
 * @throws StorageFault `request.invalid` for a smaller size, `volume.expansion_impossible` that says why per disk,
 *   `volume.not_attached`, `volume.busy`
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
      const { volume } = view;
      const task = volume.layerTask;
      const isWanted = task?.kind === 'expand' && task.sizeBytes === sizeBytes;
      if (isWanted || volume.spec.sizeBytes === sizeBytes) return [];
      assertAttached(volume);
      const patch = taskPatch(ports, view, { kind: 'expand', sizeBytes, fromBytes: volume.spec.sizeBytes });
      const decision = decideExpansion(view, sizeBytes);
      if (decision.kind === 'allow') return [patch, ...decision.changes];
      const { code, why, cures } = decision;
      throw new StorageFault(code, {
        publicMessage: why,
        cures,
        ...(code === 'request.invalid' ? { errors: [{ pointer: '/size', detail: why }] } : {}),
      });
    },
    ifVersion,
  );
}
