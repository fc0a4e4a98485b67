'use client';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { eventsOf, type Place, useEventsOf } from '../api/node-queries';
import { CopyQuestionAs } from './copy-question';
import { EventsList } from './events-list';
import { Paged } from './paged';

/** Events of a node or a disk, newest first. */
export function PlaceEvents({ place }: { place: Place }) {
  const events = useEventsOf(place);
  const question = { path: '/clusters/{clusterId}/events', query: { filter: eventsOf(place) } };
  return (
    <Panel
      title="What happened"
      flush
      aside={<CopyQuestionAs of="what happened" question={question} isList />}
    >
      <Paged query={events} what="the events" rows={4} empty={<Message title="Nothing has happened yet" />}>
        {(found) => <EventsList events={found} />}
      </Paged>
    </Panel>
  );
}
