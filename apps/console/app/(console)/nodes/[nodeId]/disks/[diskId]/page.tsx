'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { durationText } from '@holdfast/core/model/disk-answers.js';
import { CopyText } from '@holdfast/ui/copy-text.js';
import { Panel } from '@holdfast/ui/panel.js';
import Link from 'next/link';
import { use } from 'react';
import { useDisk, useNode, useOrphansOn, useReplicaCounts } from '../../../../../../src/api/node-queries';
import type { Disk } from '../../../../../../src/api/types';
import { useForbidden } from '../../../../../../src/api/use-access';
import { useCluster } from '../../../../../../src/api/use-cluster';
import { DiskActions } from '../../../../../../src/disk/disk-actions';
import { DiskBadge, DiskTroubleNote } from '../../../../../../src/nodes/disk-table';
import { paths } from '../../../../../../src/paths';
import { Breadcrumbs } from '../../../../../../src/shared/breadcrumbs';
import { CapacityBar, usageOf } from '../../../../../../src/shared/capacity-panel';
import { ConditionsPanel } from '../../../../../../src/shared/conditions-panel';
import { CopiesPanel } from '../../../../../../src/shared/copies-panel';
import { CopyQuestionAs } from '../../../../../../src/shared/copy-question';
import { FactsList } from '../../../../../../src/shared/facts-list';
import { LabelsPanel } from '../../../../../../src/shared/labels-panel';
import { Loaded } from '../../../../../../src/shared/loaded';
import { PageHeader } from '../../../../../../src/shared/page-header';
import { PlaceEvents } from '../../../../../../src/shared/place-events';

export default function DiskPage({ params }: { params: Promise<{ nodeId: string; diskId: string }> }) {
  const { nodeId, diskId } = use(params);
  const disk = useDisk(nodeId, diskId);
  const node = useNode(nodeId);
  return (
    <>
      <Breadcrumbs
        trail={[
          { href: paths.nodes, label: 'Nodes and disks' },
          { href: paths.node(nodeId), label: node.data?.name ?? 'Its node' },
        ]}
      />
      <Loaded query={disk} what="the disk" rows={6}>
        {(data) => <DiskDetail disk={data} nodeName={node.data?.name ?? ''} />}
      </Loaded>
    </>
  );
}

function DiskDetail({ disk, nodeName }: { disk: Disk; nodeName: string }) {
  const cluster = useCluster();
  const forbidden = useForbidden()('node:write');
  const counts = useReplicaCounts([disk.nodeId]);
  const total = counts.data?.disks.find(({ diskId }) => diskId === disk.id)?.total;
  const place = { kind: 'disk', id: disk.id } as const;
  return (
    <>
      <title>{`${disk.name} of ${nodeName} · Holdfast`}</title>
      <PageHeader
        title={disk.name}
        subtitle={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <DiskBadge disk={disk} />
            <span>on {nodeName}</span>
            <span className="tabular-nums">
              {formatBytes(disk.storageAvailable)} free of {formatBytes(disk.storageMaximum)}
            </span>
          </span>
        }
        actions={
          <>
            <DiskActions disk={disk} />
            <CopyQuestionAs
              question={{ path: `/clusters/{clusterId}/nodes/${disk.nodeId}/disks/${disk.id}` }}
            />
          </>
        }
      />
      <div className="mb-4 empty:hidden">
        <DiskTroubleNote disk={disk} />
      </div>
      <div className="grid items-start gap-4 xl:grid-cols-3">
        <div className="flex min-w-0 flex-col gap-4 xl:col-span-2">
          <CopiesPanel place={place} total={total} />
          <PlaceEvents place={place} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <ConditionsPanel conditions={disk.conditions} />
          <Space disk={disk} />
          <Answers disk={disk} />
          <Panel title="What it is">
            <FactsList
              facts={{
                Kind: disk.type === 'block' ? 'Device or file, for v2 volumes' : 'Folder, for v1 volumes',
                'File system': disk.fileSystem === '' ? undefined : disk.fileSystem,
                Tags: disk.tags.length === 0 ? 'none' : disk.tags.join(', '),
              }}
            />
            <div className="mt-3 flex flex-col gap-2">
              <CopyText text={disk.path} label="path of the disk" />
              <CopyText text={disk.id} label="id of the disk" />
            </div>
          </Panel>
          <LabelsPanel
            of={disk.name}
            labels={disk.labels}
            path={`/clusters/${cluster.id}/nodes/${disk.nodeId}/disks/${disk.id}`}
            disabledReason={forbidden}
          />
        </div>
      </div>
    </>
  );
}

function Space({ disk }: { disk: Disk }) {
  const orphans = useOrphansOn(disk.id).data ?? [];
  return (
    <Panel title="Space">
      <CapacityBar label={disk.name} usage={usageOf([disk])} />
      <div className="mt-3">
        <FactsList
          facts={{
            Free: formatBytes(disk.storageAvailable),
            'Promised to volumes': formatBytes(disk.storageScheduled),
            'Written by them': formatBytes(disk.writtenBytes),
            Reserved: formatBytes(disk.storageReserved),
            Size: formatBytes(disk.storageMaximum),
            Orphans:
              orphans.length === 0 ? (
                'none'
              ) : (
                <Link href={paths.nodes} className="text-accent hover:underline">
                  {orphans.length}, {formatBytes(orphans.reduce((sum, { size }) => sum + size, 0))}
                </Link>
              ),
          }}
        />
      </div>
    </Panel>
  );
}

/** Response times of the disk to its agent: if volumes are slow, these show whether the disk is the reason. */
function Answers({ disk: { answers } }: { disk: Disk }) {
  return (
    <Panel title="Answers to its agent">
      {answers === null ? (
        <p className="text-muted">Its agent does not say.</p>
      ) : (
        <FactsList
          facts={{
            'Half within': durationText(answers.p50Ms),
            '99 of 100 within': durationText(answers.p99Ms),
            Slowest: durationText(answers.maxMs),
            'Oldest open call': answers.oldestMs === 0 ? 'none over 2 s' : durationText(answers.oldestMs),
          }}
        />
      )}
    </Panel>
  );
}
