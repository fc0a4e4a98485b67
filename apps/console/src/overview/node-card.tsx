'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { pulsing } from '@holdfast/ui/motion.js';
import { TONE_FILL } from '@holdfast/ui/tone.js';
import { clsx } from 'clsx';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { useSilentNodes } from '../api/silent-nodes';
import type { Disk, Replica, ReplicaCounts, StorageNode, Volume } from '../api/types';
import { paths } from '../paths';
import { CapacityBar, usageOf } from '../shared/capacity-panel';
import { type CopyCount, CountedCopies } from '../shared/counted-copies';
import { nodeLook, replicaLook } from '../states';

export type Placed = { volume: Volume; replica: Replica };
/** A node with its disks, and what lies on each. */
export function NodeCard({
  node,
  disks,
  placed,
  counts,
}: {
  node: StorageNode;
  disks: readonly Disk[];
  placed: readonly Placed[] | undefined;
  counts: ReplicaCounts | undefined;
}) {
  const look = nodeLook(node);
  const attached = counts?.nodes.find(({ nodeId }) => nodeId === node.id)?.attached ?? 0;
  return (
    <NodeFrame node={node}>
      <p className="mb-2 text-xs text-muted">{attachedText(attached)}</p>
      <div className="flex flex-col gap-2">
        {disks.map((disk) => (
          <DiskLine
            key={disk.id}
            disk={disk}
            placed={placed?.filter(({ replica }) => replica.diskId === disk.id)}
            count={counts?.disks.find(({ diskId }) => diskId === disk.id)}
            isSilent={look.tone === 'bad'}
          />
        ))}
      </div>
    </NodeFrame>
  );
}

/** A box with the node's name and how it stands. */
export function NodeFrame({ node, children }: { node: StorageNode; children: ReactNode }) {
  const look = nodeLook(node);
  return (
    <div
      className={clsx(
        'rounded-md border bg-raised p-2.5',
        look.tone === 'bad' ? 'border-bad' : 'border-border',
      )}
    >
      <div className="flex items-center justify-between gap-2">
        <Link href={paths.node(node.id)} className="truncate text-sm font-medium hover:underline">
          {node.name}
        </Link>
        <Badge tone={look.tone} quiet>
          {look.word}
        </Badge>
      </div>
      {children}
    </div>
  );
}

type DiskLineProps = {
  disk: Disk;
  placed: readonly Placed[] | undefined;
  count: CopyCount | undefined;
  isSilent: boolean;
};

function DiskLine({ disk, placed, count, isSilent }: DiskLineProps) {
  return (
    <div>
      <div className="mb-1 flex min-h-4 items-center gap-2">
        <Link href={paths.disk(disk.nodeId, disk.id)} className="flex items-center gap-2 hover:underline">
          <span className="max-w-32 shrink-0 truncate text-xs tabular-nums text-muted">{disk.name}</span>
          {placed === undefined && <CountedCopies count={count} isSilent={isSilent} />}
        </Link>
        {placed !== undefined && <Blocks placed={placed} />}
      </div>
      <CapacityBar label={disk.name} usage={usageOf([disk])} />
    </div>
  );
}

function Blocks({ placed }: { placed: readonly Placed[] }) {
  const silent = useSilentNodes();
  return (
    // Each is as small as it looks, and as large as a finger wants it.
    <span className="flex flex-wrap">
      {placed.map(({ volume, replica }) => {
        const look = replicaLook(replica, volume, silent);
        return (
          <Link
            key={replica.id}
            href={paths.volume(volume.id)}
            title={`${volume.name}: ${look.word}`}
            aria-label={`${volume.name}: ${look.word}`}
            className="inline-flex size-6 items-center justify-center rounded hover:bg-hover"
          >
            <span
              aria-hidden
              ref={look.tone === 'busy' ? pulsing : undefined}
              className={clsx('size-3.5 rounded-[3px]', TONE_FILL[look.tone])}
            />
          </Link>
        );
      })}
    </span>
  );
}

function attachedText(count: number): string {
  if (count === 0) return 'No volume attached here';
  return count === 1 ? '1 volume attached here' : `${count.toLocaleString('en')} volumes attached here`;
}
