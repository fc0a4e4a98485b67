'use client';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useQuery } from '@tanstack/react-query';
import { FlaskConical } from 'lucide-react';
import { useRouter, useSearchParams } from 'next/navigation';
import { Suspense } from 'react';
import { api, type WhatIf as WhatIfQuestion } from '../../../src/api/client';
import { useZones } from '../../../src/api/node-queries';
import type { Simulation } from '../../../src/api/types';
import { useAllowed, useForbidden } from '../../../src/api/use-access';
import { useCluster } from '../../../src/api/use-cluster';
import { paths } from '../../../src/paths';
import { CopyAs } from '../../../src/shared/copy-as';
import { copyForms } from '../../../src/shared/copy-forms';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { questionOf } from '../../../src/what-if/question';
import { WhatIfForm } from '../../../src/what-if/what-if-form';
import { WhatIfResult } from '../../../src/what-if/what-if-result';

/** What would fit, and the effect on existing volumes. Changes nothing. */
export default function WhatIfPage() {
  return (
    <>
      <title>What if · Holdfast</title>
      <PageHeader
        title="What if"
        subtitle="Tried on a copy of the cluster with the scheduler itself. Nothing changes. The address of this page holds the question: send it to share it."
      />
      <Suspense fallback={<Skeleton />}>
        <WhatIf />
      </Suspense>
    </>
  );
}

function WhatIf() {
  const cluster = useCluster();
  const zones = useZones();
  const router = useRouter();
  const address = useSearchParams().toString();
  const asked = new URLSearchParams(address);
  const question = questionOf(asked);
  const isAllowed = useAllowed()('placement:simulate');
  const forbidden = useForbidden()('placement:simulate');
  const answer = useQuery({
    queryKey: ['what-if', cluster.id, address],
    queryFn: ({ signal }) =>
      question === undefined
        ? Promise.reject(new Error('nothing is asked'))
        : api.simulate(cluster.id, question, signal),
    enabled: question !== undefined && isAllowed,
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  });

  function ask(parameters: URLSearchParams) {
    if (parameters.toString() === address) void answer.refetch();
    else router.push(`${paths.whatIf}?${parameters}`);
  }

  return (
    <div className="grid items-start gap-4 xl:grid-cols-3">
      <Panel title="What should happen">
        <Loaded query={zones} what="the zones">
          {(data) => (
            <WhatIfForm
              zones={data}
              asked={address}
              error={answer.error}
              busy={answer.isFetching}
              onSubmit={ask}
            />
          )}
        </Loaded>
      </Panel>
      <div className="min-w-0 xl:col-span-2" aria-live="polite">
        {forbidden !== undefined ? (
          <Panel title="Answer">
            <Message title="You may not ask what-ifs" body={forbidden} />
          </Panel>
        ) : question === undefined ? (
          <Panel title="Answer">
            <Message
              icon={FlaskConical}
              title="Nothing asked yet"
              body="Choose new volumes, what to lose, to drain or to add, and see what fits where and how long it takes."
            />
          </Panel>
        ) : answer.data === undefined ? (
          <Panel title="Answer">
            <Loaded query={answer} what="the answer" rows={5}>
              {() => null}
            </Loaded>
          </Panel>
        ) : (
          <WhatIfResult
            result={answer.data}
            copyAs={<CopyAs forms={formsOf(cluster.id, question, answer.data)} />}
          />
        )}
      </div>
    </div>
  );
}

function formsOf(clusterId: string, question: WhatIfQuestion, answer: Simulation) {
  const path = '/placements/simulate';
  return copyForms({
    cli: ['api', 'POST', `/clusters/{clusterId}${path}`, '--body', '-'],
    path: `/api/v1/clusters/${clusterId}${path}`,
    body: question,
    value: answer,
  });
}
