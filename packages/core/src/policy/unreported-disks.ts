import type { DiskReport } from '../model/agent-protocol.js';
import { conditionOf } from '../model/condition.js';
import type { StorageDisk } from '../model/node.js';

/**
 * Disks of a node that its agent does not report any more, each as a report that it is not there: a disk that was pulled out while
 * the agent was off, and that its configuration does not name now. Its row would say forever that it is ready, new replicas
 * would be placed on it, and a node that it was put into could not take it over.
 *
 * @param disks all of the node's, as they were before the report; one that waits to be set up has never been reported, and the row of a
 *   second disk of one identity ends instead
 */
export function unreportedDisks(
  reports: readonly Pick<DiskReport, 'diskId'>[],
  disks: readonly StorageDisk[],
): DiskReport[] {
  const reported = new Set(reports.map(({ diskId }) => diskId));
  return disks
    .filter(
      ({ id, conditions, duplicateOf }) =>
        !reported.has(id) &&
        duplicateOf === undefined &&
        conditionOf(conditions, 'Ready')?.reason !== 'DiskPending',
    )
    .map((disk) => ({
      diskId: disk.id,
      name: disk.name,
      path: disk.path,
      type: disk.type,
      fileSystem: disk.fileSystem,
      maximumBytes: disk.storageMaximumBytes,
      availableBytes: disk.storageAvailableBytes,
      ready: false,
      reason: 'DiskNotReported',
      message: 'its agent does not report it any more',
    }));
}
