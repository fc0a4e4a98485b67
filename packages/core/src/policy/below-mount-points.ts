/**
 * Disks that were made beneath a mount point. The agent of a node that was installed anew knows no disk, and where a file system is not mounted
 * yet it finds an empty folder of the root file system, and makes a disk there. What is written to it vanishes from sight with the mount.
 */
import type { DiskReport } from '../model/agent-protocol.js';
import { conditionOf } from '../model/condition.js';
import type { StorageDisk } from '../model/node.js';

/** The reports, of which those of such disks say that they are not ready. @param disks all of the node's, as they were before the report */
export function belowMountPoints(
  reports: readonly DiskReport[],
  disks: readonly Pick<StorageDisk, 'id' | 'name' | 'path' | 'conditions'>[],
): DiskReport[] {
  const reported = new Set<string>(reports.map(({ diskId }) => diskId));
  const missing = disks.filter(
    ({ id, conditions }) => !reported.has(id) && conditionOf(conditions, 'Mounted')?.status === 'True',
  );
  return reports.map((report) => {
    const hidden = missing.find(({ path }) => path === report.path);
    if (hidden === undefined || !report.ready || report.onRootFileSystem !== true) return report;
    const message =
      `it is a folder of the root file system, and ${report.path} was the mount point of disk ${hidden.name} (${hidden.id}), which is ` +
      'missing. Mount that disk and take this one off the node (holdfast disk remove); or take the missing one off, if it was replaced';
    return { ...report, ready: false, reason: 'DiskNotMounted', message };
  });
}
