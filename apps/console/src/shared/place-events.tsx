'use client';
import { Message } from '@holdfast/ui/message.js';
import { Panel } from '@holdfast/ui/panel.js';
import { type Place, useEventsOf } from '../api/node-queries';
import { EventsList } from './events-list';
import { Paged } from './paged';

/** What happened on a node or to a disk, newest first. */
export function PlaceEvents({ place }: { place: Place }) {
  const events = useEventsOf(place);
  return (
    <Panel title="What happened" flush>
      <Paged query={events} what="the events" rows={4} empty={<Message title="Nothing has happened yet" />}>
        {(found) => <EventsList events={found} />}
      </Paged>
    </Panel>
  );
}
