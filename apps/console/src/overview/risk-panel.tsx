'use client';
import { causeFilter } from '@holdfast/core/policy/cause-filter.js';
import { Message } from '@holdfast/ui/message.js';
import { Moment } from '@holdfast/ui/moment.js';
import { Panel } from '@holdfast/ui/panel.js';
import { ShieldAlert, ShieldCheck } from 'lucide-react';
import Link from 'next/link';
import { useRisk } from '../api/queries';
import type { ClusterRisk, RiskCause } from '../api/types';
import { paths } from '../paths';
import { Loaded } from '../shared/loaded';
import { causeLink, causeTitle, effectWords, volumesWord } from '../shared/risk-words';

/** Causes that fit the panel; the rest are counted. */
const CAUSES_MAX = 4;

/** Answers: is any data at risk, and by what? */
export function RiskPanel() {
  const risk = useRisk();
  return (
    <Panel title="Is any data at risk?" flush>
      <Loaded query={risk} what="the volumes">
        {(data) =>
          data.volumes.total === 0 && data.causes.length === 0 ? <NoVolumes /> : <Verdict risk={data} />
        }
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

function Verdict({ risk }: { risk: ClusterRisk }) {
  const { volumes, causes } = risk;
  const atRisk = volumes.total - volumes.healthy;
  const isBad = volumes.notServed + volumes.faulted > 0;
  return (
    <>
      <div className="flex items-center gap-3 border-b border-border p-4">
        {atRisk === 0 ? (
          <ShieldCheck aria-hidden size={30} className="shrink-0 text-good" />
        ) : (
          <ShieldAlert aria-hidden size={30} className={`shrink-0 ${isBad ? 'text-bad' : 'text-warn'}`} />
        )}
        <div>
          <p className="text-base font-semibold">
            {atRisk === 0 ? 'No' : `${atRisk.toLocaleString('en')} of ${volumesWord(volumes.total)}`}
          </p>
          <p className="text-sm text-muted">
            {atRisk === 0
              ? `${volumes.total === 1 ? 'The one volume has' : `All ${volumesWord(volumes.total)} have`} every copy it should.`
              : `${effectWords(volumes).join(', ')}.`}
          </p>
        </div>
      </div>
      {causes.length > 0 && (
        <ul aria-label="Causes">
          {causes.slice(0, CAUSES_MAX).map((cause) => (
            <Cause key={`${cause.kind} ${cause.subjectId ?? ''}`} cause={cause} causes={causes} />
          ))}
        </ul>
      )}
      {causes.length > CAUSES_MAX && (
        <p className="px-4 py-2 text-xs text-muted">
          {causes.length - CAUSES_MAX} more causes with fewer volumes
        </p>
      )}
    </>
  );
}

function Cause({ cause, causes }: { cause: RiskCause; causes: readonly RiskCause[] }) {
  const { effects, examples, since } = cause;
  const words = effectWords(effects);
  const count = effects.notServed + effects.faulted + effects.unknown + effects.degraded;
  const isBad = effects.notServed + effects.faulted > 0;
  return (
    <li className="border-b border-border px-4 py-3 text-sm last:border-0">
      <p className="flex items-baseline justify-between gap-3">
        <span className={isBad ? 'font-medium text-bad' : 'font-medium'}>
          {causeTitle(cause)}
          {words.length > 0 && <span className="text-text">: {words.join(', ')}</span>}
        </span>
        {since !== null && (
          <span className="shrink-0 text-xs text-muted">
            <Moment at={since} />
          </span>
        )}
      </p>
      {examples.length > 0 && (
        <p className="mt-1 flex flex-wrap gap-x-3 text-xs">
          {examples.map(({ id, name }) => (
            <Link
              key={id}
              href={paths.volume(id)}
              className="inline-flex min-h-6 items-center text-accent hover:underline"
            >
              {name}
            </Link>
          ))}
          {count > examples.length && (
            <Link
              href={paths.volumesThat(causeFilter(cause, causes))}
              className="inline-flex min-h-6 items-center text-muted hover:underline"
            >
              and {(count - examples.length).toLocaleString('en')} more
            </Link>
          )}
        </p>
      )}
      <p className="mt-1 text-xs text-muted">{causeLink(cause)}</p>
    </li>
  );
}
