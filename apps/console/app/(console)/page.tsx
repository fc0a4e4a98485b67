'use client';
import { Panel } from '@holdfast/ui/panel.js';
import Link from 'next/link';
import { CAUSES_FILTER, useEvents } from '../../src/api/queries';
import { FirstNode } from '../../src/join/first-node';
import { FleetMap } from '../../src/overview/fleet-map';
import { RiskPanel } from '../../src/overview/risk-panel';
import { paths } from '../../src/paths';
import { LostVolumesNote } from '../../src/recovery/lost-volumes-note';
import { CapacityPanel } from '../../src/shared/capacity-panel';
import { CopyQuestionAs } from '../../src/shared/copy-question';
import { EventsList } from '../../src/shared/events-list';
import { Loaded } from '../../src/shared/loaded';
import { PageHeader } from '../../src/shared/page-header';
import { RebuildsPanel } from '../../src/shared/rebuilds-panel';

/** Enough to see what led to now; the events page has the rest. */
const EVENTS_SHOWN = 8;
/** Enough for this many lines, each of which may stand for several similar events. */
const EVENTS_ASKED = 40;

export default function OverviewPage() {
  const events = useEvents(CAUSES_FILTER, EVENTS_ASKED);
  return (
    <>
      <title>Overview · Holdfast</title>
      <PageHeader
        title="Overview"
        subtitle="Volumes at risk, when they will be safe, and what is running out."
        actions={<CopyQuestionAs question={{ path: '/clusters/{clusterId}' }} />}
      />
      <FirstNode />
      <LostVolumesNote />
      <div className="grid items-start gap-4 xl:grid-cols-3">
        <div className="grid items-stretch gap-4 md:grid-cols-2 xl:col-span-2">
          <RiskPanel />
          <RebuildsPanel />
          <FleetMap className="md:col-span-2" />
        </div>
        <div className="grid gap-4 md:max-xl:grid-cols-2">
          <CapacityPanel />
          <Panel
            title="Recent events"
            flush
            aside={
              <Link href={paths.events} className="text-xs text-accent hover:underline">
                All events
              </Link>
            }
          >
            <Loaded query={events} what="the events">
              {(data) => <EventsList events={data} shownMax={EVENTS_SHOWN} />}
            </Loaded>
          </Panel>
        </div>
      </div>
    </>
  );
}
