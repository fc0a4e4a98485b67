'use client';
import { Badge } from '@holdfast/ui/badge.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useQuery } from '@tanstack/react-query';
import { MousePointerClick } from 'lucide-react';
import Link from 'next/link';
import { api } from '../api/client';
import type { Simulation } from '../api/types';
import { useAllowed, useForbidden } from '../api/use-access';
import { useCluster } from '../api/use-cluster';
import { paths } from '../paths';
import { timeSentence } from '../shared/drain-words';
import { Loaded } from '../shared/loaded';
import { VOLUME_ENDS } from '../states';
import { type Domain, domainText, lossOf, lossParameters } from './domains';

type Props = { domain: Domain | undefined };

/** Effect of losing the chosen domain on the volumes, as the scheduler computes it. */
export function LossPanel({ domain }: Props) {
  const forbidden = useForbidden()('placement:simulate');
  if (forbidden !== undefined) {
    return (
      <Panel title="What breaks">
        <Message title="You may not ask what-ifs" body={forbidden} />
      </Panel>
    );
  }
  if (domain === undefined) {
    return (
      <Panel title="What breaks">
        <Message
          icon={MousePointerClick}
          title="Choose a domain"
          body="Press the name of a region, zone, node or disk to see what its loss would do. Nothing changes."
        />
      </Panel>
    );
  }
  return <Loss key={domainText(domain)} domain={domain} />;
}

function Loss({ domain }: { domain: Domain }) {
  const cluster = useCluster();
  const isAllowed = useAllowed()('placement:simulate');
  const answer = useQuery({
    queryKey: ['loss', cluster.id, domainText(domain)],
    queryFn: async ({ signal }) => {
      const lose = await lossOf(domain, async (region) =>
        (await api.nodes(cluster.id, `region="${region}"`)).map(({ name }) => name),
      );
      const question = { volumes: [], lose, add: { disks: [] }, drain: [], settings: {}, howManyMore: false };
      return { lose, result: await api.simulate(cluster.id, question, signal) };
    },
    enabled: isAllowed,
    retry: false,
    refetchOnWindowFocus: false,
  });
  return (
    <Panel
      title={`If ${domain.kind} ${domain.name} is lost`}
      flush
      aside={
        answer.data !== undefined && (
          <Link
            href={`${paths.whatIf}?${lossParameters(answer.data.lose)}`}
            className="inline-flex min-h-6 items-center text-xs text-accent hover:underline"
          >
            Ask more about it
          </Link>
        )
      }
    >
      <Loaded query={answer} what="the answer" rows={4}>
        {({ result }) => <Answer result={result} />}
      </Loaded>
    </Panel>
  );
}

function Answer({ result: { sentence, forecast } }: { result: Simulation }) {
  const { volumesLost, volumesDegraded, volumesUnschedulable, volumesWaiting, time, volumes } = forecast;
  const counts = [
    { label: 'lost', count: volumesLost, tone: 'bad' },
    { label: 'degraded meanwhile', count: volumesDegraded, tone: 'warn' },
    { label: 'without a place for a copy', count: volumesUnschedulable, tone: 'warn' },
    { label: 'waiting for a user or a node', count: volumesWaiting, tone: 'idle' },
  ] as const;
  return (
    <>
      <div className="flex flex-col gap-2 p-4 text-sm">
        <p className="font-medium">{sentence}</p>
        <dl className="grid grid-cols-[auto_1fr] items-baseline gap-x-3 gap-y-1">
          {counts.map(({ label, count, tone }) => (
            <div key={label} className="contents">
              <dd
                className={`text-right text-lg font-semibold tabular-nums ${count === 0 ? 'text-faint' : TEXT[tone]}`}
              >
                {count}
              </dd>
              <dt className="text-muted">{label}</dt>
            </div>
          ))}
        </dl>
        <p className="text-muted">{time === null ? 'No copy would be built.' : timeSentence(time)}</p>
      </div>
      {volumes.shown.length > 0 && (
        <ul aria-label="Volumes concerned" className="max-h-[60vh] overflow-y-auto border-t border-border">
          {volumes.shown.map(({ volumeId, volumeName, end, copiesAtLowest, copiesWanted, why }) => (
            <li key={volumeId} className="border-b border-border px-4 py-2 text-sm last:border-0">
              <p className="flex items-center justify-between gap-3">
                <Link
                  href={paths.volume(volumeId)}
                  className="inline-flex min-h-6 min-w-0 items-center truncate font-medium hover:underline"
                >
                  {volumeName}
                </Link>
                <Badge tone={VOLUME_ENDS[end].tone}>{VOLUME_ENDS[end].word}</Badge>
              </p>
              <p className="text-xs text-muted">
                {copiesAtLowest} of {copiesWanted} copies at the lowest{why === null ? '' : `: ${why}`}
              </p>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const TEXT = { bad: 'text-bad', warn: 'text-warn', idle: 'text-idle' };
