'use client';
import { GIB } from '@holdfast/core/model/bytes.js';
import { REPLICA_COUNT_MAX } from '@holdfast/core/model/volume.js';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import { useRouter, useSearchParams } from 'next/navigation';
import { Suspense } from 'react';
import { useZones } from '../../../src/api/node-queries';
import type { Zone } from '../../../src/api/types';
import { FullestPanel } from '../../../src/capacity/fullest-panel';
import { HistoryPanel, SPANS, type Span } from '../../../src/capacity/history-panel';
import type { Kind } from '../../../src/capacity/verdict';
import { VerdictPanel } from '../../../src/capacity/verdict-panel';
import { paths } from '../../../src/paths';
import { CapacityPanel } from '../../../src/shared/capacity-panel';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';

const SIZE_GIB = 10;
const REPLICAS = 3;

/** How full the cluster is, and how much more fits. */
export default function CapacityPage() {
  const zones = useZones();
  return (
    <>
      <title>Capacity · Holdfast</title>
      <PageHeader
        title="Capacity"
        subtitle="Used and promised space, how many more volumes fit, and when it will be full."
        actions={<CopyQuestionAs question={{ path: '/clusters/{clusterId}/capacity' }} />}
      />
      <Loaded query={zones} what="the nodes" rows={6}>
        {(data) =>
          data.length === 0 ? (
            <Message title="No nodes yet" body="A node appears when its agent first reports." />
          ) : (
            <Suspense fallback={<Skeleton />}>
              <Capacity zones={data} />
            </Suspense>
          )
        }
      </Loaded>
    </>
  );
}

function Capacity({ zones }: { zones: readonly Zone[] }) {
  const router = useRouter();
  const asked = useSearchParams();
  const kind: Kind = {
    sizeBytes: Math.max(1, Math.round(numberIn(asked.get('sizeGib'), SIZE_GIB) * 1024)) * (GIB / 1024),
    numberOfReplicas: Math.min(REPLICA_COUNT_MAX, Math.ceil(numberIn(asked.get('replicas'), REPLICAS))),
  };

  const days = SPANS.find((span) => String(span) === asked.get('days')) ?? SPANS[0];

  function show(changes: Record<string, string>) {
    const query = new URLSearchParams({ ...Object.fromEntries(asked), ...changes });
    router.replace(`${paths.capacity}?${query}`, { scroll: false });
  }

  function ask(form: FormData) {
    show({ sizeGib: String(form.get('sizeGib')), replicas: String(form.get('replicas')) });
  }

  function showSpan(span: Span) {
    show({ days: String(span) });
  }

  return (
    <div className="grid items-start gap-4 xl:grid-cols-3">
      <div className="flex min-w-0 flex-col gap-4 xl:col-span-2">
        <VerdictPanel zones={zones} kind={kind} onAsk={ask} />
        <HistoryPanel days={days} onSpan={showSpan} />
        <FullestPanel total={zones.reduce((total, { nodes }) => total + nodes.total, 0)} />
      </div>
      <div className="min-w-0">
        <CapacityPanel />
      </div>
    </div>
  );
}

/** An address that was typed may hold anything. */
function numberIn(text: string | null, otherwise: number): number {
  const value = Number(text ?? otherwise);
  return Number.isFinite(value) && value > 0 ? value : otherwise;
}
