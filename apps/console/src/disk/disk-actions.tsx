'use client';
import { Button } from '@holdfast/ui/button.js';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { Disk } from '../api/types';
import { useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { DiskButton } from '../shared/disk-dialogs';
import { DiskRemovalDialog, useRemovalReason } from '../shared/disk-removal';
import { PlanDialog } from '../shared/plan-dialog';

/** All that can be done with a disk, with its plan first. */
export function DiskActions({ disk }: { disk: Disk }) {
  const cluster = useCluster();
  const router = useRouter();
  const forbidden = useForbidden()('node:write');
  const [asked, setAsked] = useState<'evict' | 'remove'>();
  const close = () => setAsked(undefined);
  const path = `/clusters/${cluster.id}/nodes/${disk.nodeId}/disks/${disk.id}`;
  const removalReason = useRemovalReason(disk);
  const isOn = disk.evictionRequested;
  return (
    <>
      <DiskButton disk={disk} variant="secondary" />
      <Button disabledReason={forbidden} onClick={() => setAsked('evict')}>
        {isOn ? 'End eviction…' : 'Evict copies…'}
      </Button>
      <Button variant="danger" disabledReason={forbidden ?? removalReason} onClick={() => setAsked('remove')}>
        Remove…
      </Button>
      {asked === 'evict' && (
        <PlanDialog
          title={isOn ? `End the eviction of ${disk.name}` : `Evict the copies of ${disk.name}`}
          description={
            isOn
              ? 'Copies that are still on it stay, and new ones may come.'
              : 'Each copy on it is built elsewhere first, then removed here. No new one comes meanwhile.'
          }
          request={{ method: 'PATCH', path, body: { allowScheduling: isOn, evictionRequested: !isOn } }}
          confirmLabel={isOn ? 'End eviction' : 'Evict copies'}
          done={isOn ? `${disk.name} keeps its copies.` : `${disk.name} is being emptied.`}
          onClose={close}
        />
      )}
      {asked === 'remove' && (
        <DiskRemovalDialog
          disk={disk}
          onClose={close}
          onDone={() => router.replace(paths.node(disk.nodeId))}
        />
      )}
    </>
  );
}
