'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Button } from '@holdfast/ui/button.js';
import { Meter } from '@holdfast/ui/meter.js';
import { Moment } from '@holdfast/ui/moment.js';
import { clsx } from 'clsx';
import { PlugZap } from 'lucide-react';
import { useState } from 'react';
import { useDisksOf, useNodesById } from '../api/node-queries';
import { useActiveRebuilds } from '../api/rebuild-queries';
import { useSilentNodes } from '../api/silent-nodes';
import type { Replica, StorageNode, Volume } from '../api/types';
import { useForbidden } from '../api/use-access';
import { ZoneGrid } from '../shared/zone-grid';
import { nodeLook, replicaLook } from '../states';
import { MoveDialog } from './move-dialog';

/** A volume's copies in their zones and nodes, the engine's node marked, a rebuild's progress on its target. */
export function PlacementPicture({ volume }: { volume: Volume }) {
  const involved = useNodesById([volume.attachedNodeId, ...volume.replicas.map(({ nodeId }) => nodeId)]);
  const unplaced = volume.replicas.filter((replica) => replica.nodeId === null);
  return (
    <ZoneGrid
      nodes={involved.data ?? []}
      renderNode={(node) => <NodeBox key={node.id} node={node} volume={volume} />}
    >
      {unplaced.length > 0 && (
        <section
          aria-label="Not placed"
          className="rounded-md border border-dashed border-border-strong p-3 text-sm text-muted"
        >
          {unplaced.length === 1 ? 'One copy has' : `${unplaced.length} copies have`} no place yet.
        </section>
      )}
    </ZoneGrid>
  );
}

function NodeBox({ node, volume }: { node: StorageNode; volume: Volume }) {
  const copies = volume.replicas.filter((replica) => replica.nodeId === node.id);
  const serves = volume.attachedNodeId === node.id;
  const look = nodeLook(node);
  const answers = look.tone !== 'bad';
  return (
    <div className="rounded-md border border-border bg-raised p-2.5">
      <p className="flex items-center justify-between gap-2 text-sm font-medium">
        {node.name}
        {!answers && (
          <Badge tone={look.tone} quiet>
            {look.word}
          </Badge>
        )}
      </p>
      {serves && (
        <p
          className={clsx(
            'mt-1 inline-flex items-center gap-1 text-xs',
            answers ? 'text-accent' : 'text-bad',
          )}
        >
          <PlugZap aria-hidden size={13} />{' '}
          {answers ? 'Serves the volume' : 'Should serve the volume, and does not answer'}
        </p>
      )}
      {copies.map((replica) => (
        <Copy key={replica.id} replica={replica} volume={volume} />
      ))}
      {copies.length === 0 && <p className="mt-1 text-xs text-muted">No copy here</p>}
    </div>
  );
}

function Copy({ replica, volume }: { replica: Replica; volume: Volume }) {
  const [isMoving, setMoving] = useState(false);
  const forbidden = useForbidden(volume.projectId)('volume:write');
  const disks = useDisksOf(volume.replicas.map(({ nodeId }) => nodeId));
  const rebuilds = useActiveRebuilds(volume.id);
  const look = replicaLook(replica, volume, useSilentNodes());
  const disk = disks.data?.find((candidate) => candidate.id === replica.diskId);
  const rebuild = rebuilds.data?.pages
    .flatMap(({ items }) => items)
    .find(({ targetReplicaId }) => targetReplicaId === replica.id);
  return (
    <div
      className={clsx(
        'mt-2 rounded border border-border p-2',
        look.tone === 'bad' && 'bg-bad-soft',
        look.tone === 'busy' && 'bg-busy-soft',
      )}
    >
      <div className="flex items-center justify-between gap-2">
        <Badge tone={look.tone} quiet>
          {look.word}
        </Badge>
        <span className="truncate text-xs text-muted">{disk?.name ?? ''}</span>
      </div>
      {rebuild !== undefined && (
        <Meter className="mt-1.5" label={`Rebuild of ${volume.name}`} percent={rebuild.percent} />
      )}
      {rebuild === undefined && replica.failedAt !== null && (
        <p className="mt-1 text-xs text-muted">
          Failed <Moment at={replica.failedAt} />
          {replica.failure === null ? '' : `: ${replica.failure.message}`}
        </p>
      )}
      {replica.relocation !== null && (
        <p className="mt-1 text-xs text-muted">Replaces another copy: {replica.relocation.gain}</p>
      )}
      {replica.healthyAt !== null && replica.failedAt === null && replica.relocation === null && (
        <Button
          variant="ghost"
          className="mt-1"
          aria-label={`Move the copy on ${disk?.name ?? 'this disk'}`}
          disabledReason={forbidden}
          onClick={() => setMoving(true)}
        >
          Move
        </Button>
      )}
      {isMoving && <MoveDialog volume={volume} replica={replica} onClose={() => setMoving(false)} />}
    </div>
  );
}
