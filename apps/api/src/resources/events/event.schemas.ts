import type { EventPosition, StoredEvent } from '@holdfast/database/queries/events.js';
import { z } from 'zod';
import { exportQuery } from '../../access/export-lines.js';
import { dto } from '../../http/dto.js';
import { pageOf, time, uuid } from '../../http/schemas.js';

export const eventSchema = z
  .object({
    id: z.string().describe('Id of the event; as `Last-Event-ID` a stream resumes after it.'),
    clusterId: uuid.describe('Id of its cluster.'),
    type: z.string().describe("Stable code of the event's type, such as `VolumeCreated`."),
    severity: z
      .enum(['info', 'warning', 'error'])
      .describe(
        '`warning`: redundancy or capacity is reduced; `error`: a volume is unusable or data is at risk.',
      ),
    subject: z
      .object({
        kind: z.string().describe('Kind of the object, such as `volume`, `node` or `rebuild`.'),
        id: z.string().describe('Id of the object.'),
      })
      .describe('The object of the event.'),
    volumeId: uuid.nullable().describe('Id of the affected volume; null: none.'),
    message: z.string().describe('The event in a sentence, for people.'),
    at: time.describe('Time of the event.'),
    causeId: z
      .string()
      .nullable()
      .describe(
        'Id of the causing event, such as the `NodeNotReady` of the node of its copies; null: none, or not known yet. The filter takes the number behind the dash: `causeId=0` lists events without a cause.',
      ),
    effects: z
      .int()
      .min(0)
      .describe('Number of events that it caused; in a stream, as of the time of sending.'),
  })
  .meta({ id: 'Event' });

export type EventView = z.infer<typeof eventSchema>;

export function eventView({ position, causedBy, ...event }: StoredEvent): EventView {
  return {
    id: idAt(position),
    clusterId: event.clusterId,
    type: event.type,
    severity: event.severity,
    subject: { ...event.subject },
    volumeId: event.volumeId ?? null,
    message: event.message,
    at: event.at.toISOString(),
    causeId: causedBy === undefined ? null : idAt(causedBy),
    effects: event.effects,
  };
}

function idAt({ transactionId, id }: EventPosition): string {
  return `${transactionId}-${id}`;
}

export class StreamQuery extends dto(
  z.strictObject({
    filter: z
      .string()
      .max(1_000)
      .default('')
      .describe(
        'Sends matching events only, and no changes: `severity=error OR type in (NodeDown, NodeReady)`, by `volumeId`, `nodeId`, `projectId` and others, as for the list.',
      ),
    as: z
      .enum(['events', 'ids'])
      .default('events')
      .describe(
        '`ids`: for readers that ask for what they show. Every half second at most one message `ids` with the ids of what has changed by their ' +
          'kinds, such as `{"volume":["…"],"event":["…"]}`; null in place of more than 20 of a kind. A rebuild is named by its volume. It can not be resumed.',
      ),
  }),
) {}

export class EventPage extends dto(pageOf(eventSchema, 'EventList')) {}
export class EventExportQuery extends dto(exportQuery('Events')) {}
