'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Badge } from '@holdfast/ui/badge.js';
import { CopyText } from '@holdfast/ui/copy-text.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { use } from 'react';
import { useNode } from '../../../../src/api/node-queries';
import type { StorageNode } from '../../../../src/api/types';
import { useForbidden } from '../../../../src/api/use-access';
import { useCluster } from '../../../../src/api/use-cluster';
import { NodeActions } from '../../../../src/node/node-actions';
import { DiskTable } from '../../../../src/nodes/disk-table';
import { paths } from '../../../../src/paths';
import { Breadcrumbs } from '../../../../src/shared/breadcrumbs';
import { CapacityBar } from '../../../../src/shared/capacity-panel';
import { ConditionsPanel } from '../../../../src/shared/conditions-panel';
import { CopiesPanel } from '../../../../src/shared/copies-panel';
import { DrainNote } from '../../../../src/shared/drain-panel';
import { FactsList } from '../../../../src/shared/facts-list';
import { LabelsPanel } from '../../../../src/shared/labels-panel';
import { Loaded } from '../../../../src/shared/loaded';
import { MaintenanceNote } from '../../../../src/shared/node-buttons';
import { PageHeader } from '../../../../src/shared/page-header';
import { PlaceEvents } from '../../../../src/shared/place-events';
import { nodeLook } from '../../../../src/states';

export default function NodePage({ params }: { params: Promise<{ nodeId: string }> }) {
  const { nodeId } = use(params);
  const node = useNode(nodeId);
  return (
    <>
      <Breadcrumbs trail={[{ href: paths.nodes, label: 'Nodes and disks' }]} />
      <Loaded query={node} what="the node" rows={6}>
        {(data) => <NodeDetail node={data} />}
      </Loaded>
    </>
  );
}

function NodeDetail({ node }: { node: StorageNode }) {
  const cluster = useCluster();
  const forbidden = useForbidden()('node:write');
  const look = nodeLook(node);
  const place = { kind: 'node', id: node.id } as const;
  return (
    <>
      <title>{`${node.name} · Holdfast`}</title>
      <PageHeader
        title={node.name}
        subtitle={
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Badge tone={look.tone}>{look.word}</Badge>
            <span>{[node.region, node.zone ?? 'no zone'].filter(Boolean).join(' / ')}</span>
            <span>{node.replicas === 1 ? '1 copy' : `${node.replicas} copies`}</span>
            <span>{heard(node)}</span>
          </span>
        }
        actions={<NodeActions node={node} />}
      />
      <div className="mb-4 empty:hidden">
        <DrainNote node={node} />
        <MaintenanceNote node={node} />
      </div>
      <div className="grid items-start gap-4 xl:grid-cols-3">
        <div className="flex min-w-0 flex-col gap-4 xl:col-span-2">
          <Panel title="Disks" flush>
            <DiskTable node={node} isNarrow />
          </Panel>
          <CopiesPanel place={place} total={node.replicas} />
          <PlaceEvents place={place} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <ConditionsPanel conditions={node.conditions} />
          <Space node={node} />
          <Panel title="What it is">
            <FactsList
              facts={{
                Zone: node.zone ?? 'none',
                Region: node.region ?? 'none',
                Tags: node.tags.length === 0 ? 'none' : node.tags.join(', '),
                'Its agent': node.agentVersion ?? 'not heard yet',
                'Serves at':
                  node.nbdHost === null ? 'not known yet' : `${node.nbdHost}:${node.nbdPort ?? '?'}`,
              }}
            />
            <div className="mt-3">
              <CopyText text={node.id} label="id of the node" />
            </div>
          </Panel>
          <LabelsPanel
            of={node.name}
            labels={node.labels}
            path={`/clusters/${cluster.id}/nodes/${node.id}`}
            disabledReason={forbidden}
          />
        </div>
      </div>
    </>
  );
}

function heard({ lastHeartbeatAt }: StorageNode) {
  if (lastHeartbeatAt === null) return 'Never heard of';
  return (
    <>
      Heard <Moment at={lastHeartbeatAt} />
    </>
  );
}

function Space({ node: { name, storage } }: { node: StorageNode }) {
  const used = Math.max(0, storage.maximum - storage.available);
  return (
    <Panel title="Space of its disks">
      <CapacityBar
        label={name}
        usage={{ maximum: storage.maximum, used, reserved: storage.reserved, scheduled: storage.scheduled }}
      />
      <div className="mt-3">
        <FactsList
          facts={{
            Free: formatBytes(storage.available),
            'Promised to volumes': formatBytes(storage.scheduled),
            'Written by them': formatBytes(storage.written),
            Reserved: formatBytes(storage.reserved),
            Size: formatBytes(storage.maximum),
          }}
        />
      </div>
    </Panel>
  );
}
