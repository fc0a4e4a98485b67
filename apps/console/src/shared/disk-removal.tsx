'use client';
import { decideDiskRemoval } from '@holdfast/core/policy/decide-disk-change.js';
import { reasonOf } from '../actions';
import { useOrphansOn } from '../api/node-queries';
import type { Disk } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { PlanDialog } from './plan-dialog';

/** Why the disk can't be removed now, by the rule of the API; `undefined`: it can. */
export function useRemovalReason(disk: Disk): string | undefined {
  const orphans = useOrphansOn(disk.id).data?.length ?? 0;
  const { name, evictionRequested, storageScheduled, removalRequestedAt } = disk;
  return reasonOf(
    decideDiskRemoval({
      disk: {
        name,
        evictionRequested,
        storageScheduledBytes: storageScheduled,
        removalRequestedAt: removalRequestedAt === null ? undefined : new Date(removalRequestedAt),
      },
      orphans,
    }),
  );
}

type Props = { disk: Disk; onClose: () => void; onDone?: () => void };

/** Takes an empty disk off its node, once its plan has been seen. */
export function DiskRemovalDialog({ disk, onClose, onDone }: Props) {
  const cluster = useCluster();
  return (
    <PlanDialog
      title={`Remove ${disk.name} from its node?`}
      description="Its agent releases it. It holds no copy; other files on it stay."
      request={{ method: 'DELETE', path: `/clusters/${cluster.id}/nodes/${disk.nodeId}/disks/${disk.id}` }}
      confirmLabel="Remove disk"
      done={`${disk.name} is being removed.`}
      isDangerous
      onClose={onClose}
      {...(onDone === undefined ? {} : { onDone })}
    />
  );
}
