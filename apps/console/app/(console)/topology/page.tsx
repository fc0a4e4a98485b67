'use client';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { useRouter, useSearchParams } from 'next/navigation';
import { Suspense } from 'react';
import { useZones } from '../../../src/api/node-queries';
import type { Zone } from '../../../src/api/types';
import { paths } from '../../../src/paths';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';
import { type Domain, domainText, readDomain } from '../../../src/topology/domains';
import { LossPanel } from '../../../src/topology/loss-panel';
import { TopologyPicture } from '../../../src/topology/topology-picture';

const PARAMETER = 'lose';

export default function TopologyPage() {
  const zones = useZones();
  return (
    <>
      <title>Topology · Holdfast</title>
      <PageHeader
        title="Topology"
        subtitle="Failure domains: regions, zones, nodes and disks, with their copies. Press a name to see the effect of its loss."
        actions={<CopyQuestionAs question={{ path: '/clusters/{clusterId}/zones' }} isList />}
      />
      <Loaded query={zones} what="the nodes" rows={6}>
        {(data) =>
          data.length === 0 ? (
            <Message title="No nodes yet" body="A node appears when its agent first reports." />
          ) : (
            <Suspense fallback={<Skeleton />}>
              <Topology zones={data} />
            </Suspense>
          )
        }
      </Loaded>
    </>
  );
}

function Topology({ zones }: { zones: readonly Zone[] }) {
  const router = useRouter();
  const chosen = readDomain(useSearchParams().get(PARAMETER));

  /** The same again takes the choice back. */
  function choose(domain: Domain) {
    const text = domainText(domain);
    const isOn = chosen !== undefined && domainText(chosen) === text;
    const address = isOn ? paths.topology : `${paths.topology}?${PARAMETER}=${encodeURIComponent(text)}`;
    router.replace(address, { scroll: false });
  }

  return (
    <div className="grid items-start gap-4 xl:grid-cols-3">
      <div className="min-w-0 xl:col-span-2">
        <Panel title="What fails together" hint="One block for each copy">
          <TopologyPicture zones={zones} chosen={chosen} onChoose={choose} />
        </Panel>
      </div>
      <div className="min-w-0" aria-live="polite">
        <LossPanel domain={chosen} />
      </div>
    </div>
  );
}
