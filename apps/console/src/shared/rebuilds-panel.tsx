'use client';
import { Panel } from '@holdfast/ui/panel.js';
import { CircleCheck, Hourglass } from 'lucide-react';
import Link from 'next/link';
import { useRebuilds, useVolumes } from '../api/queries';
import type { Rebuild, Volume } from '../api/types';
import { paths } from '../paths';
import { Loaded } from './loaded';
import { RebuildProgress } from './rebuild-progress';
import { useNames } from './use-names';
import { WaitingCopies } from './waiting-copies';

const SHOWN_MAX = 5;

/** Answers: when will it be safe again? */
export function RebuildsPanel() {
  const rebuilds = useRebuilds();
  const volumes = useVolumes();
  return (
    <Panel
      title="When will it be safe?"
      flush
      aside={
        <Link href={paths.rebuilds} className="text-xs text-accent hover:underline">
          All rebuilds
        </Link>
      }
    >
      <Loaded query={rebuilds} what="the rebuilds">
        {(data) => (
          <>
            <Active rebuilds={data.filter(isActive)} volumes={volumes.data ?? []} />
            <WaitingCopies volumes={volumes.data ?? []} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

export function isActive(rebuild: Rebuild): boolean {
  return rebuild.state === 'running' || rebuild.state === 'queued';
}

function Active({ rebuilds, volumes }: { rebuilds: readonly Rebuild[]; volumes: readonly Volume[] }) {
  const names = useNames();
  if (rebuilds.length === 0) return <Idle volumes={volumes} />;
  // Running ones first; the queue's own order after them.
  const ordered = [...rebuilds].sort((a, b) => (a.queuePosition ?? 0) - (b.queuePosition ?? 0));
  return (
    <ul>
      {ordered.slice(0, SHOWN_MAX).map((rebuild) => (
        <li key={rebuild.id} className="border-b border-border px-4 py-3 last:border-0">
          <RebuildProgress
            rebuild={rebuild}
            names={{ volume: names.volume(rebuild.volumeId), node: names.node(rebuild.targetNodeId) }}
          />
        </li>
      ))}
    </ul>
  );
}

function Idle({ volumes }: { volumes: readonly Volume[] }) {
  const waiting = volumes.filter(
    (volume) => volume.robustness === 'degraded' || volume.robustness === 'faulted',
  ).length;
  return (
    <div className="flex items-center gap-3 p-4">
      {waiting > 0 ? (
        <Hourglass aria-hidden size={30} className="shrink-0 text-warn" />
      ) : (
        <CircleCheck aria-hidden size={30} className="shrink-0 text-good" />
      )}
      <div>
        <p className="text-base font-semibold">{waiting > 0 ? 'Not known yet' : 'Now'}</p>
        <p className="text-sm text-muted">
          {waiting > 0
            ? 'A copy is missing and nothing rebuilds it yet.'
            : 'Nothing is being rebuilt, nothing waits.'}
        </p>
      </div>
    </div>
  );
}
