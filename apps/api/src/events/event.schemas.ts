import type { StoredEvent } from '@holdfast/database/queries/events.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { pageOf, time, uuid } from '../platform/schemas.js';

export const eventSchema = z
  .object({
    id: z.string().describe('Also what a stream resumes from, as `Last-Event-ID`.'),
    type: z.string(),
    severity: z.enum(['info', 'warning', 'error']),
    subject: z.object({ kind: z.string(), id: z.string() }),
    volumeId: uuid.nullable(),
    message: z.string(),
    at: time,
  })
  .meta({ id: 'Event' });

export type EventView = z.infer<typeof eventSchema>;

export function eventView({ position, ...event }: StoredEvent): EventView {
  return {
    id: `${position.transactionId}-${position.id}`,
    type: event.type,
    severity: event.severity,
    subject: { ...event.subject },
    volumeId: event.volumeId ?? null,
    message: event.message,
    at: event.at.toISOString(),
  };
}

export class EventPage extends dto(pageOf(eventSchema, 'EventList')) {}
