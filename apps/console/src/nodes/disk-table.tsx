'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Message } from '@holdfast/ui/message.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import Link from 'next/link';
import { useDisksOf } from '../api/node-queries';
import type { Disk, StorageNode } from '../api/types';
import { paths } from '../paths';
import { sentence } from '../sentence';
import { CapacityBar, usageOf } from '../shared/capacity-panel';
import { DiskButton } from '../shared/disk-dialogs';
import { Loaded } from '../shared/loaded';
import { AcceptDiskButton } from './accept-disk';
import { diskTrouble } from './disk-trouble';

const COLUMNS: Column<Disk>[] = [
  { header: 'Disk', cell: (disk) => <DiskName disk={disk} /> },
  { header: 'Ready', cell: (disk) => <DiskBadge disk={disk} /> },
  {
    header: 'Use',
    className: 'min-w-44 max-sm:min-w-0 max-sm:flex-1',
    cell: (disk) => (
      // A line on a phone gives a cell no width of its own.
      <span className="block w-full min-w-20">
        <CapacityBar label={disk.name} usage={usageOf([disk])} />
      </span>
    ),
  },
  { header: 'Free', align: 'right', isWide: true, cell: (disk) => formatBytes(disk.storageAvailable) },
  {
    header: 'Promised',
    align: 'right',
    isWide: true,
    cell: (disk) => <span className="text-muted">{formatBytes(disk.storageScheduled)}</span>,
  },
  { header: 'Size', align: 'right', isWide: true, cell: (disk) => formatBytes(disk.storageMaximum) },
  {
    header: 'Folder',
    isWide: true,
    className: 'max-w-72',
    cell: (disk) => (
      <span className="block truncate font-mono text-xs text-muted" title={disk.path}>
        {disk.path}
      </span>
    ),
  },
  {
    header: 'Actions',
    isHeaderHidden: true,
    isWide: true,
    align: 'right',
    cell: (disk) => <DiskButton disk={disk} />,
  },
];

type Props = {
  node: Pick<StorageNode, 'id' | 'name'>;
  /** Beside other panels: without details that a disk's own page shows. */
  isNarrow?: boolean;
  /** Nodes whose disks are in the same table: all of them are read at once. */
  beside?: readonly string[];
};

/** A node's disks: whether each may be used, and how full it is. */
export function DiskTable({ node, isNarrow = false, beside = [] }: Props) {
  const disks = useDisksOf([node.id, ...beside]);
  return (
    <Loaded query={disks} what="the disks" rows={2}>
      {(data) => {
        const own = data.filter((disk) => disk.nodeId === node.id);
        return (
          <>
            <Table
              label={`Disks of ${node.name}`}
              rows={own}
              columns={isNarrow ? COLUMNS.filter(({ header }) => header !== 'Folder') : COLUMNS}
              onPhone="lines"
              rowKey={(disk) => disk.id}
              empty={
                <Message
                  title="No disks"
                  body="Give the agent a folder by HOLDFAST_DISKS, or a device or file for v2 by HOLDFAST_BLOCK_DISKS."
                />
              }
            />
            {own.map((disk) => (
              <DiskTroubleNote key={disk.id} disk={disk} />
            ))}
          </>
        );
      }}
    </Loaded>
  );
}

function DiskName({ disk }: { disk: Disk }) {
  return (
    <>
      <Link
        href={paths.disk(disk.nodeId, disk.id)}
        className="inline-flex min-h-6 items-center whitespace-nowrap font-medium hover:underline"
      >
        {disk.name}
      </Link>
      {disk.tags.length > 0 && <span className="block text-xs text-muted">{disk.tags.join(', ')}</span>}
    </>
  );
}

/** Problem of a disk that requires a user, and its cure. */
export function DiskTroubleNote({ disk }: { disk: Disk }) {
  const trouble = diskTrouble(disk);
  if (trouble?.cure === undefined || disk.removalRequestedAt !== null) return null;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-border bg-warn-soft px-4 py-2 text-sm text-warn">
      <p className="min-w-0 flex-1 basis-72">
        <strong>
          {disk.name}: {trouble.word}.
        </strong>{' '}
        {sentence(trouble.message)} {trouble.cure}
      </p>
      <AcceptDiskButton disk={disk} />
    </div>
  );
}

export function DiskBadge({ disk }: { disk: Disk }) {
  if (disk.removalRequestedAt !== null) return <Badge tone="idle">Being removed</Badge>;
  const trouble = diskTrouble(disk);
  if (trouble !== undefined) {
    return (
      <span title={trouble.message}>
        <Badge tone={trouble.tone} quiet>
          {trouble.word}
        </Badge>
      </span>
    );
  }
  return (
    <Badge tone={disk.allowScheduling ? 'good' : 'idle'} quiet>
      {disk.allowScheduling ? 'Ready' : disk.evictionRequested ? 'Evicting' : 'Scheduling off'}
    </Badge>
  );
}
