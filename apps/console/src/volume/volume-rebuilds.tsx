'use client';
import { Panel } from '@holdfast/ui/panel.js';
import { useNodeNames } from '../api/node-queries';
import { useActiveRebuilds, useEndedRebuilds } from '../api/rebuild-queries';
import type { Rebuild, Volume } from '../api/types';
import { Loaded } from '../shared/loaded';
import { Paged } from '../shared/paged';
import { RebuildProgress } from '../shared/rebuild-progress';
import { waitingText } from '../shared/waiting-copies';

/** The volume's rebuilds: why none is in the queue, those that run or wait, and how the ones before ended. */
export function VolumeRebuilds({ volume }: { volume: Volume }) {
  const active = useActiveRebuilds(volume.id);
  const ended = useEndedRebuilds(volume.id);
  const why = waitingText(volume);
  const running = active.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Panel title="Rebuilds" flush>
      {why !== undefined && <p className="border-b border-border px-4 py-3 text-sm last:border-0">{why}</p>}
      <Loaded query={active} what="the rebuilds">
        {() => running.length > 0 && <Rebuilds volume={volume} rebuilds={running} withControls />}
      </Loaded>
      <Paged
        query={ended}
        what="the rebuilds"
        rows={1}
        empty={
          why === undefined &&
          active.data !== undefined &&
          running.length === 0 && (
            <p className="p-4 text-sm text-muted">None of its copies ever had to be rebuilt.</p>
          )
        }
        note={(shown) => `${shown} shown; there are older ones`}
        more="Show older"
      >
        {(rebuilds) => <Rebuilds volume={volume} rebuilds={rebuilds} />}
      </Paged>
    </Panel>
  );
}

type RebuildsProps = { volume: Volume; rebuilds: readonly Rebuild[]; withControls?: boolean };

function Rebuilds({ volume, rebuilds, withControls = false }: RebuildsProps) {
  const nodeName = useNodeNames(rebuilds.map(({ targetNodeId }) => targetNodeId));
  return (
    <ul className="border-b border-border last:border-0">
      {rebuilds.map((rebuild) => (
        <li key={rebuild.id} className="border-b border-border px-4 py-3 last:border-0">
          <RebuildProgress
            rebuild={rebuild}
            withControls={withControls}
            names={{ volume: volume.name, node: nodeName(rebuild.targetNodeId) }}
          />
          {rebuild.error !== null && <p className="mt-1 text-xs text-bad">{rebuild.error.message}</p>}
        </li>
      ))}
    </ul>
  );
}
