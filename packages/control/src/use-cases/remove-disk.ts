import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, DiskId } from '@holdfast/core/model/ids.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import { decideDiskRemoval } from '@holdfast/core/policy/decide-disk-change.js';
import { diskEvent, diskRemovedNews } from '@holdfast/core/policy/disk-events.js';
import type { Change } from '../ports/store.js';
import { assertVersion, hasToAct, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Removes an empty disk from its node. Its agent releases it first, or it would report the disk again; if the agent is unreachable
 * the row is deleted at once.
 *
 * @param input.orphans number of orphans on it
 * @throws StorageFault `disk.not_found`, `disk.in_use`
 */
export function removeDisk(
  ports: UseCasePorts,
  input: { clusterId: ClusterId; diskId: DiskId; orphans: number; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const { nodes, disks } = await ports.store.loadFleet(input.clusterId);
    const disk = disks.find(({ id }) => id === input.diskId);
    const node = nodes.find(({ id }) => id === disk?.nodeId);
    if (disk === undefined || node === undefined) {
      throw new StorageFault('disk.not_found', { publicMessage: `the cluster has no disk ${input.diskId}` });
    }
    assertVersion(disk.version, input.ifVersion);
    if (!hasToAct(decideDiskRemoval({ disk, orphans: input.orphans }))) return;
    const at = ports.clock.now();
    const changes: Change[] = isNodeReady(node)
      ? [{ kind: 'disk.remove', diskId: disk.id, at }]
      : [
          { kind: 'disk.delete', diskId: disk.id },
          { kind: 'event', event: diskEvent(input.clusterId, disk, diskRemovedNews(disk, node.name), at) },
        ];
    await ports.store.commit({ kind: 'node', nodeId: node.id, ifVersion: node.version }, changes);
  });
}
