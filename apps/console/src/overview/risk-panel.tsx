'use client';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { ShieldAlert, ShieldCheck } from 'lucide-react';
import Link from 'next/link';
import { useVolumes } from '../api/queries';
import type { Volume } from '../api/types';
import { paths } from '../paths';
import { Loaded } from '../shared/loaded';
import { ReplicaDots } from '../shared/replica-dots';
import { RobustnessBadge } from '../shared/volume-badges';
import { byRisk } from '../states';

/** As many as fit the panel; the rest are a click away. */
const SHOWN_MAX = 6;

/** Answers: is any data at risk? */
export function RiskPanel() {
  const volumes = useVolumes();
  return (
    <Panel title="Is any data at risk?" flush>
      <Loaded query={volumes} what="the volumes">
        {(data) => (data.length === 0 ? <NoVolumes /> : <Verdict volumes={data} />)}
      </Loaded>
    </Panel>
  );
}

function NoVolumes() {
  return (
    <Message
      title="No volumes yet"
      body={<code className="font-mono text-xs">npx holdfast volume create data --size 1Gi</code>}
    />
  );
}

function Verdict({ volumes }: { volumes: readonly Volume[] }) {
  const atRisk = volumes.filter((volume) => volume.robustness !== 'healthy').sort(byRisk);
  if (atRisk.length === 0) {
    return (
      <div className="flex items-center gap-3 p-4">
        <ShieldCheck aria-hidden size={30} className="text-good" />
        <div>
          <p className="text-base font-semibold">No</p>
          <p className="text-sm text-muted">
            {volumes.length === 1 ? 'The one volume has' : `All ${volumes.length} volumes have`} every copy it
            should.
          </p>
        </div>
      </div>
    );
  }
  const lost = atRisk.filter((volume) => volume.robustness === 'faulted').length;
  return (
    <>
      <div className="flex items-center gap-3 border-b border-border p-4">
        <ShieldAlert aria-hidden size={30} className={lost > 0 ? 'text-bad' : 'text-warn'} />
        <div>
          <p className="text-base font-semibold">
            {atRisk.length} of {volumes.length} {volumes.length === 1 ? 'volume' : 'volumes'}
          </p>
          <p className="text-sm text-muted">
            {lost > 0 ? `${lost} can't be served. ` : ''}Fewer copies than wanted, or their state is not
            known.
          </p>
        </div>
      </div>
      <ul>
        {atRisk.slice(0, SHOWN_MAX).map((volume) => (
          <li
            key={volume.id}
            className="flex h-9 items-center justify-between gap-3 border-b border-border px-4 last:border-0"
          >
            <Link href={paths.volume(volume.id)} className="min-w-0 truncate font-medium hover:underline">
              {volume.name}
            </Link>
            <span className="flex items-center gap-3">
              <ReplicaDots volume={volume} />
              <RobustnessBadge volume={volume} />
            </span>
          </li>
        ))}
      </ul>
      {atRisk.length > SHOWN_MAX && (
        <Link href={paths.volumes} className="block px-4 py-2 text-xs text-accent hover:underline">
          {atRisk.length - SHOWN_MAX} more
        </Link>
      )}
    </>
  );
}
