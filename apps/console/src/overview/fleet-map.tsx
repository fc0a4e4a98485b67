'use client';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Suspense } from 'react';
import { useDisksOf, useReplicaCounts, useSomeNodes, useZones } from '../api/node-queries';
import { useRisk, useSomeVolumes } from '../api/queries';
import type { Disk, StorageNode, Zone } from '../api/types';
import { Loaded } from '../shared/loaded';
import { ZoneGrid } from '../shared/zone-grid';
import { NodeCard } from './node-card';
import { ZoneSummaries } from './zone-summaries';

/** A page of volumes: blocks of more are too small to be told apart. */
const DRAWN_VOLUMES_MAX = 100;
/**
 * A screen of nodes, and as many as one filter names: beyond that zones are summed up, and only nodes that need attention are drawn.
 */
const DRAWN_NODES_MAX = 24;

/** The cluster as a picture: zones side by side, their nodes, the nodes' disks, and on each disk its copies. */
export function FleetMap({ className }: { className?: string }) {
  const zones = useZones();
  return (
    <Panel
      title="Where everything is"
      hint="Zones, nodes, disks, and one block for each copy"
      {...(className === undefined ? {} : { className })}
    >
      <Loaded query={zones} what="the nodes">
        {(data) => {
          const total = data.reduce((sum, { nodes }) => sum + nodes.total, 0);
          if (total === 0)
            return <Message title="No nodes yet" body="A node appears when its agent first reports." />;
          if (total <= DRAWN_NODES_MAX) return <DrawnNodes zones={data} />;
          return (
            <Suspense fallback={<Skeleton />}>
              <ZoneSummaries zones={data} />
            </Suspense>
          );
        }}
      </Loaded>
    </Panel>
  );
}

function DrawnNodes({ zones }: { zones: readonly Zone[] }) {
  const nodes = useSomeNodes({ limit: DRAWN_NODES_MAX });
  const ids = nodes.data?.map(({ id }) => id) ?? [];
  const disks = useDisksOf(ids);
  const total = useRisk().data?.volumes.total;
  const isDrawn = total !== undefined && total <= DRAWN_VOLUMES_MAX;
  const volumes = useSomeVolumes('', { enabled: isDrawn });
  const counts = useReplicaCounts(ids);
  const placed = isDrawn
    ? (volumes.data ?? []).flatMap((volume) => volume.replicas.map((replica) => ({ volume, replica })))
    : undefined;
  const disksOf = byNode(disks.data ?? []);
  const renderNode = (node: StorageNode) => (
    <NodeCard
      key={node.id}
      node={node}
      disks={disksOf.get(node.id) ?? []}
      placed={placed}
      counts={counts.data}
    />
  );
  return (
    <Loaded query={nodes} what="the nodes" rows={zones.length}>
      {(data) => <ZoneGrid nodes={data} renderNode={renderNode} />}
    </Loaded>
  );
}

function byNode(disks: readonly Disk[]): ReadonlyMap<string, readonly Disk[]> {
  const found = new Map<string, Disk[]>();
  for (const disk of disks) {
    const known = found.get(disk.nodeId);
    if (known === undefined) found.set(disk.nodeId, [disk]);
    else known.push(disk);
  }
  return found;
}
