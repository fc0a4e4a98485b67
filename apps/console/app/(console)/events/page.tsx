'use client';
import { Panel } from '@holdfast/ui/panel.js';
import { useEvents } from '../../../src/api/queries';
import { EventsList } from '../../../src/shared/events-list';
import { Loaded } from '../../../src/shared/loaded';
import { PageHeader } from '../../../src/shared/page-header';

export default function EventsPage() {
  const events = useEvents();
  return (
    <>
      <title>Events · Holdfast</title>
      <PageHeader title="Events" subtitle="What happened in this cluster, newest first." />
      <Panel title="The last events" flush>
        <Loaded query={events} what="the events" rows={8}>
          {(data) => <EventsList events={data} />}
        </Loaded>
      </Panel>
    </>
  );
}
