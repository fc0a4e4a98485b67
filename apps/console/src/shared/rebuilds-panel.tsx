'use client';
import { Panel } from '@holdfast/ui/panel.js';
import { clsx } from 'clsx';
import { CircleCheck, Hourglass, OctagonAlert } from 'lucide-react';
import Link from 'next/link';
import { useRisk } from '../api/queries';
import { useActiveRebuilds } from '../api/rebuild-queries';
import type { ClusterRisk, Rebuild } from '../api/types';
import { paths } from '../paths';
import { Loaded } from './loaded';
import { RebuildProgress } from './rebuild-progress';
import { safetyOf } from './risk-words';
import { useNames } from './use-names';
import { WaitingCopies } from './waiting-copies';

const SHOWN_MAX = 5;

/** Answers: when will it be safe again? */
export function RebuildsPanel() {
  const risk = useRisk();
  const rebuilds = useActiveRebuilds();
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
      <Loaded query={risk} what="the volumes">
        {(data) => <Answer risk={data} />}
      </Loaded>
      <Active rebuilds={rebuilds.data?.pages[0]?.items ?? []} hasMore={rebuilds.hasNextPage} />
      <WaitingCopies />
    </Panel>
  );
}

/** The first of them, in the order in which they run. */
function Active({ rebuilds, hasMore }: { rebuilds: readonly Rebuild[]; hasMore: boolean }) {
  const shown = rebuilds.slice(0, SHOWN_MAX);
  const names = useNames(shown);
  const more = rebuilds.length - shown.length;
  if (shown.length === 0) return null;
  return (
    <>
      <ul aria-label="Under way">
        {shown.map((rebuild) => (
          <li key={rebuild.id} className="border-b border-border px-4 py-3 last:border-0">
            <RebuildProgress
              rebuild={rebuild}
              names={{ volume: names.volume(rebuild.volumeId), node: names.node(rebuild.targetNodeId) }}
            />
          </li>
        ))}
      </ul>
      {more > 0 && (
        <p className="border-t border-border px-4 py-2 text-xs text-muted">
          {hasMore ? `more than ${more}` : more} more run or wait
        </p>
      )}
    </>
  );
}

const SAFETY_ICON = { good: CircleCheck, warn: Hourglass, bad: OctagonAlert };
const SAFETY_TEXT = { good: 'text-good', warn: 'text-warn', bad: 'text-bad' };

function Answer({ risk }: { risk: ClusterRisk }) {
  const { tone, title, body } = safetyOf(risk);
  const Icon = SAFETY_ICON[tone];
  return (
    <div className="flex items-center gap-3 border-b border-border p-4 last:border-0">
      <Icon aria-hidden size={30} className={clsx('shrink-0', SAFETY_TEXT[tone])} />
      <div>
        <p className="text-base font-semibold">{title}</p>
        <p className="text-sm text-muted">{body}</p>
      </div>
    </div>
  );
}
