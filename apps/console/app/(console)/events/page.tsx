'use client';
import { Message } from '@holdfast/ui/message.js';
import { CAUSES_FILTER, useEventPages } from '../../../src/api/queries';
import { useCluster } from '../../../src/api/use-cluster';
import { paths } from '../../../src/paths';
import { CopyQuestionAs } from '../../../src/shared/copy-question';
import { EventsList } from '../../../src/shared/events-list';
import { ExportLinks } from '../../../src/shared/export-links';
import type { QuickFilter } from '../../../src/shared/list-search';
import { PageHeader } from '../../../src/shared/page-header';
import { SearchedPages } from '../../../src/shared/searched-pages';

/** Events that follow from another one are folded under it; with a filter each event is a line. */
const useFolded = (filter: string) => useEventPages(filter === '' ? CAUSES_FILTER : filter);

const FOLDED = { path: '/clusters/{clusterId}/events', query: { filter: CAUSES_FILTER } };

const QUICK_FILTERS: readonly QuickFilter[] = [
  { label: 'All', filter: '' },
  { label: 'One by one', filter: 'id>0' },
  { label: 'Warnings and errors', filter: 'severity!=info' },
  { label: 'Nodes and disks', filter: 'subjectKind in (node, disk)' },
  { label: 'Rebuilds', filter: 'subjectKind=rebuild' },
  { label: 'Settings', filter: 'subjectKind=setting' },
];

export default function EventsPage() {
  const cluster = useCluster();
  return (
    <>
      <title>Events · Holdfast</title>
      <PageHeader
        title="Events"
        subtitle="Events of this cluster, newest first."
        actions={
          <>
            <ExportLinks path={`/api/v1/clusters/${cluster.id}/events/export`} what="events" />
            <CopyQuestionAs question={FOLDED} isList hasFilter />
          </>
        }
      />
      <SearchedPages
        title="All events"
        path={paths.events}
        usePages={useFolded}
        what="the events"
        searchLabel="Search events"
        placeholder="A filter such as type=VolumeDegraded"
        quickFilters={QUICK_FILTERS}
        none={<EventsList events={[]} />}
        noMatch={(showAll) => <Message title="No event matches" action={showAll} />}
      >
        {(found) => <EventsList events={found} />}
      </SearchedPages>
    </>
  );
}
