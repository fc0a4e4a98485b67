'use client';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useDisks, useNodes, useReplicaCounts, useRisk, useSomeVolumes } from '../api/queries';
import type { Disk, StorageNode } from '../api/types';
import { Loaded } from '../shared/loaded';
import { ZoneGrid } from '../shared/zone-grid';
import { NodeCard } from './node-card';
import { ZoneSummaries } from './zone-summaries';

/** A page of volumes: more blocks than theirs are not told apart any more. */
const DRAWN_VOLUMES_MAX = 100;
/** A screen of nodes: of more, zones are summed up, and only nodes that need a look are drawn. */
const DRAWN_NODES_MAX = 48;

/** The cluster as a picture: zones side by side, their nodes, the nodes' disks, and on each disk its copies. */
export function FleetMap({ className }: { className?: string }) {
  const nodes = useNodes();
  return (
    <Panel
      title="Where everything is"
      hint="Zones, nodes, disks, and one block for each copy"
      {...(className === undefined ? {} : { className })}
    >
      <Loaded query={nodes} what="the nodes">
        {(data) =>
          data.length === 0 ? (
            <Message title="No nodes yet" body="A node appears when its agent first reports." />
          ) : (
            <Zones nodes={data} />
          )
        }
      </Loaded>
    </Panel>
  );
}

function Zones({ nodes }: { nodes: readonly StorageNode[] }) {
  const disks = useDisks();
  const total = useRisk().data?.volumes.total;
  const isDrawn = total !== undefined && total <= DRAWN_VOLUMES_MAX;
  const volumes = useSomeVolumes('', { enabled: isDrawn });
  const counts = useReplicaCounts();
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
  return nodes.length > DRAWN_NODES_MAX ? (
    <ZoneSummaries nodes={nodes} disksOf={disksOf} counts={counts.data} renderNode={renderNode} />
  ) : (
    <ZoneGrid nodes={nodes} renderNode={renderNode} />
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
