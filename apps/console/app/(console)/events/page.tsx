'use client';
import { Button } from '@holdfast/ui/button.js';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { Suspense } from 'react';
import { useEventPages } from '../../../src/api/queries';
import { paths } from '../../../src/paths';
import { EventsList } from '../../../src/shared/events-list';
import { ListSearch, type QuickFilter } from '../../../src/shared/list-search';
import { PageHeader } from '../../../src/shared/page-header';
import { Paged } from '../../../src/shared/paged';
import { useSearchText } from '../../../src/shared/use-search-text';

const QUICK_FILTERS: readonly QuickFilter[] = [
  { label: 'All', filter: '' },
  { label: 'Warnings and errors', filter: 'severity!=info' },
  { label: 'Nodes and disks', filter: 'subjectKind in (node, disk)' },
  { label: 'Rebuilds', filter: 'subjectKind=rebuild' },
  { label: 'Settings', filter: 'subjectKind=setting' },
];

export default function EventsPage() {
  return (
    <>
      <title>Events · Holdfast</title>
      <PageHeader title="Events" subtitle="What happened in this cluster, newest first." />
      <Suspense>
        <Events />
      </Suspense>
    </>
  );
}

function Events() {
  const [text, search] = useSearchText(paths.events);
  const events = useEventPages(text.trim());
  const empty =
    text === '' ? (
      <EventsList events={[]} />
    ) : (
      <Message title="No event matches" action={<Button onClick={() => search('')}>Show all</Button>} />
    );
  return (
    <Panel title="All events" flush>
      <ListSearch
        label="Search events"
        placeholder="A filter such as type=VolumeDegraded"
        quickFilters={QUICK_FILTERS}
        text={text}
        onText={search}
      />
      <Paged query={events} what="the events" rows={8} empty={empty}>
        {(found) => <EventsList events={found} />}
      </Paged>
    </Panel>
  );
}
