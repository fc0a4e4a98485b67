import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, DiskId } from '@holdfast/core/model/ids.js';
import { decideDiskAcceptance } from '@holdfast/core/policy/decide-disk-change.js';
import { diskAcceptedNews, diskEvent } from '@holdfast/core/policy/disk-events.js';
import { hasToAct, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Accepts a disk as the known one regardless of its stamp, with its agent's next report: a second disk with the same identity, or a
 * disk in an earlier state. Later writes are lost with it, so only a user may decide this.
 *
 * @throws StorageFault `disk.not_found`, `disk.in_use`
 */
export function acceptDisk(
  ports: UseCasePorts,
  { clusterId, diskId }: { clusterId: ClusterId; diskId: DiskId },
): Promise<void> {
  return retryConflicts(async () => {
    const { nodes, disks } = await ports.store.loadFleet(clusterId);
    const disk = disks.find(({ id }) => id === diskId);
    const node = nodes.find(({ id }) => id === disk?.nodeId);
    const known = disks.find(({ id }) => id === (disk?.duplicateOf ?? diskId));
    const from = nodes.find(({ id }) => id === known?.nodeId);
    if (disk === undefined || node === undefined || known === undefined || from === undefined) {
      throw new StorageFault('disk.not_found', { publicMessage: `the cluster has no disk ${diskId}` });
    }
    if (known.acceptedNodeId === node.id) return;
    if (!hasToAct(decideDiskAcceptance({ disk, known, from }))) return;
    const news = diskAcceptedNews(known.name, node.name, disk.path);
    await ports.store.commit({ kind: 'node', nodeId: from.id, ifVersion: from.version }, [
      { kind: 'disk.patch', diskId: known.id, patch: { acceptedNodeId: node.id } },
      { kind: 'event', event: diskEvent(clusterId, known, news, ports.clock.now()) },
    ]);
  });
}
