'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { TONE_FILL } from '@holdfast/ui/tone.js';
import { clsx } from 'clsx';
import Link from 'next/link';
import { useDisks, useNodes, useVolumes } from '../api/queries';
import type { Disk, Replica, StorageNode, Volume } from '../api/types';
import { paths } from '../paths';
import { CapacityBar, usageOf } from '../shared/capacity-panel';
import { Loaded } from '../shared/loaded';
import { ZoneGrid } from '../shared/zone-grid';
import { nodeLook, replicaLook } from '../states';

type Placed = { volume: Volume; replica: Replica };

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
  const volumes = useVolumes();
  const placed = (volumes.data ?? []).flatMap((volume) =>
    volume.replicas.map((replica) => ({ volume, replica })),
  );
  return (
    <ZoneGrid
      nodes={nodes}
      renderNode={(node) => (
        <NodeCard
          key={node.id}
          node={node}
          disks={(disks.data ?? []).filter((disk) => disk.nodeId === node.id)}
          placed={placed}
        />
      )}
    />
  );
}

function NodeCard({
  node,
  disks,
  placed,
}: {
  node: StorageNode;
  disks: readonly Disk[];
  placed: readonly Placed[];
}) {
  const look = nodeLook(node);
  const engines = placed.filter(
    ({ volume }, index) =>
      volume.attachedNodeId === node.id && placed.findIndex((other) => other.volume === volume) === index,
  );
  return (
    <div
      className={clsx(
        'rounded-md border bg-raised p-2.5',
        look.tone === 'bad' ? 'border-bad' : 'border-border',
      )}
    >
      <div className="flex items-center justify-between gap-2">
        <Link href={paths.nodes} className="truncate text-sm font-medium hover:underline">
          {node.name}
        </Link>
        <Badge tone={look.tone} quiet>
          {look.word}
        </Badge>
      </div>
      <p className="mb-2 text-xs text-muted">
        {engines.length === 1 ? '1 volume attached here' : `${engines.length} volumes attached here`}
      </p>
      <div className="flex flex-col gap-2">
        {disks.map((disk) => (
          <DiskLine
            key={disk.id}
            disk={disk}
            placed={placed.filter(({ replica }) => replica.diskId === disk.id)}
          />
        ))}
      </div>
    </div>
  );
}

function DiskLine({ disk, placed }: { disk: Disk; placed: readonly Placed[] }) {
  return (
    <div>
      <div className="mb-1 flex min-h-4 items-center gap-2">
        <span className="text-xs text-muted">{disk.name}</span>
        <span className="flex flex-wrap gap-1">
          {placed.map(({ volume, replica }) => {
            const look = replicaLook(replica);
            return (
              <Link
                key={replica.id}
                href={paths.volume(volume.id)}
                title={`${volume.name}: ${look.word}`}
                aria-label={`${volume.name}: ${look.word}`}
                className={clsx(
                  'size-3.5 rounded-[3px]',
                  TONE_FILL[look.tone],
                  look.tone === 'busy' && 'motion-safe:animate-pulse',
                )}
              />
            );
          })}
        </span>
      </div>
      <CapacityBar label={disk.name} usage={usageOf([disk])} />
    </div>
  );
}
