'use client';
import { Panel } from '@holdfast/ui/panel.js';
import { ENDED_REBUILDS_SORT } from '../api/client';
import { useNodeNames } from '../api/node-queries';
import { useActiveRebuilds, useEndedRebuilds } from '../api/rebuild-queries';
import type { Rebuild, Volume } from '../api/types';
import { CopyQuestionAs } from '../shared/copy-question';
import { Loaded } from '../shared/loaded';
import { NextPage } from '../shared/paged';
import { RebuildProgress } from '../shared/rebuild-progress';
import { waitingText } from '../shared/waiting-copies';

/** The volume's rebuilds: why none is in the queue, those that run or wait, and how the ones before ended. */
export function VolumeRebuilds({ volume }: { volume: Volume }) {
  const active = useActiveRebuilds(volume.id);
  const ended = useEndedRebuilds(volume.id);
  const why = waitingText(volume);
  // One panel with one state: it is loaded, wrong or old as a whole.
  const both = {
    data:
      active.data === undefined || ended.data === undefined
        ? undefined
        : { active: rowsOf(active.data.pages), ended: rowsOf(ended.data.pages) },
    error: active.error ?? ended.error,
    dataUpdatedAt: Math.min(active.dataUpdatedAt, ended.dataUpdatedAt),
    refetch: () => Promise.all([active.refetch(), ended.refetch()]),
  };
  return (
    <Panel
      title="Rebuilds"
      flush
      aside={
        <CopyQuestionAs
          of="the rebuilds"
          question={{
            path: '/clusters/{clusterId}/rebuilds',
            query: { filter: `volumeId=${volume.id}`, sort: ENDED_REBUILDS_SORT },
          }}
          isList
        />
      }
    >
      <Loaded query={both} what="the rebuilds">
        {(data) => (
          <>
            {why !== undefined && (
              <p className="border-b border-border px-4 py-3 text-sm last:border-0">{why}</p>
            )}
            {data.active.length > 0 && <Rebuilds volume={volume} rebuilds={data.active} withControls />}
            {data.ended.length > 0 && <Rebuilds volume={volume} rebuilds={data.ended} />}
            {why === undefined && data.active.length + data.ended.length === 0 && (
              <p className="p-4 text-sm text-muted">None of its copies ever had to be rebuilt.</p>
            )}
            <NextPage
              query={ended}
              note={`${data.ended.length} shown; there are older ones`}
              more="Show older"
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function rowsOf(pages: readonly { items: readonly Rebuild[] }[]): Rebuild[] {
  return pages.flatMap(({ items }) => items);
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
