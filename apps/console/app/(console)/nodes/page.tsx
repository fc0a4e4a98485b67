'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Column, Table } from '@holdfast/ui/table.js';
import { useDisks, useNodes } from '../../../src/api/queries';
import type { Disk, StorageNode } from '../../../src/api/types';
import { AddDiskButton, DiskButton } from '../../../src/nodes/disk-dialogs';
import { DrainNote } from '../../../src/nodes/drain-panel';
import { MaintenanceNote, NodeButtons } from '../../../src/nodes/node-buttons';
import { OrphansPanel } from '../../../src/nodes/orphans-panel';
import { CapacityBar, usageOf } from '../../../src/shared/capacity-panel';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { zonesOf } from '../../../src/shared/zone-grid';
import { nodeLook } from '../../../src/states';

const DISK_COLUMNS: Column<Disk>[] = [
  { header: 'Disk', cell: (disk) => <DiskName disk={disk} /> },
  { header: 'Ready', cell: (disk) => <DiskBadge disk={disk} /> },
  {
    header: 'Use',
    className: 'min-w-44',
    cell: (disk) => <CapacityBar label={disk.name} usage={usageOf([disk])} />,
  },
  { header: 'Free', align: 'right', cell: (disk) => formatBytes(disk.storageAvailable) },
  {
    header: 'Promised',
    align: 'right',
    cell: (disk) => <span className="text-muted">{formatBytes(disk.storageScheduled)}</span>,
  },
  { header: 'Size', align: 'right', cell: (disk) => formatBytes(disk.storageMaximum) },
  {
    header: 'Folder',
    className: 'max-w-72',
    cell: (disk) => (
      <span className="block truncate font-mono text-xs text-muted" title={disk.path}>
        {disk.path}
      </span>
    ),
  },
  { header: '', align: 'right', cell: (disk) => <DiskButton disk={disk} /> },
];

function wordOf({ type, reason }: Disk['conditions'][number]): string {
  if (type === 'DirectIo') return 'No direct I/O';
  return reason === '' ? `Not ${type.toLowerCase()}` : reason;
}

function DiskName({ disk }: { disk: Disk }) {
  return (
    <>
      <span className="block whitespace-nowrap font-medium">{disk.name}</span>
      {disk.tags.length > 0 && <span className="block text-xs text-muted">{disk.tags.join(', ')}</span>}
    </>
  );
}

function DiskBadge({ disk }: { disk: Disk }) {
  if (disk.removalRequestedAt !== null) return <Badge tone="idle">Being taken off</Badge>;
  const refused = disk.conditions.filter(({ status }) => status === 'False');
  // It works without direct I/O, at a cost: shown only when nothing worse is.
  const wrong = refused.find(({ type }) => type !== 'DirectIo') ?? refused[0];
  if (wrong !== undefined) {
    return (
      <span title={wrong.message}>
        <Badge tone={wrong.type === 'Ready' ? 'bad' : 'warn'} quiet>
          {wordOf(wrong)}
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

export default function NodesPage() {
  const nodes = useNodes();
  return (
    <>
      <title>Nodes and disks · Holdfast</title>
      <PageHeader
        title="Nodes and disks"
        subtitle="Who holds the copies, how full they are, and whether they answer."
      />
      <Loaded query={nodes} what="the nodes" rows={6}>
        {(data) =>
          data.length === 0 ? (
            <Message
              title="No nodes yet"
              body={<code className="font-mono text-xs">npx holdfast local start-agent node-1</code>}
            />
          ) : (
            <div className="flex flex-col gap-4">
              {zonesOf(data).flatMap(([, members]) =>
                members.map((node) => <NodePanel key={node.id} node={node} />),
              )}
              <OrphansPanel />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function NodePanel({ node }: { node: StorageNode }) {
  const disks = useDisks();
  const look = nodeLook(node);
  const ready = node.conditions.find((condition) => condition.type === 'Ready');
  const copies = node.replicas;
  return (
    <Panel
      title={node.name}
      hint={`${node.zone ?? 'no zone'} · ${copies === 1 ? '1 copy' : `${copies} copies`}${node.tags.length > 0 ? ` · ${node.tags.join(', ')}` : ''}`}
      flush
      aside={
        <span className="flex items-center gap-3">
          <span className="text-xs text-muted max-sm:hidden">
            {node.lastHeartbeatAt === null ? (
              'Never heard of'
            ) : (
              <>
                Heard <Moment at={node.lastHeartbeatAt} />
              </>
            )}
          </span>
          <Badge tone={look.tone}>{look.word}</Badge>
          <AddDiskButton node={node} />
          <NodeButtons node={node} />
        </span>
      }
    >
      {look.tone === 'bad' && ready !== undefined && ready.message !== '' && (
        <p className="bg-bad-soft px-4 py-2 text-sm text-bad">{ready.message}</p>
      )}
      <DrainNote node={node} />
      <MaintenanceNote node={node} />
      <Loaded query={disks} what="the disks" rows={2}>
        {(data) => (
          <Table
            label={`Disks of ${node.name}`}
            rows={data.filter((disk) => disk.nodeId === node.id)}
            columns={DISK_COLUMNS}
            rowKey={(disk) => disk.id}
            empty={
              <Message
                title="No disks"
                body="Give the agent a folder by HOLDFAST_DISKS, or a device or file for v2 by HOLDFAST_BLOCK_DISKS."
              />
            }
          />
        )}
      </Loaded>
    </Panel>
  );
}
