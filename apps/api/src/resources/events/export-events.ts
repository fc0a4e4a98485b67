/** The export of a cluster's events. */
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { listEvents, type StoredEvent } from '@holdfast/database/queries/events.js';
import type { Exported } from '../../access/export-lines.js';
import { type EventView, eventView } from './event.schemas.js';

const COLUMNS: Exported<StoredEvent, EventView>['columns'] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at],
  ['severity', ({ severity }) => severity],
  ['type', ({ type }) => type],
  ['subjectKind', ({ subject }) => subject.kind],
  ['subjectId', ({ subject }) => subject.id],
  ['volumeId', ({ volumeId }) => volumeId],
  ['message', ({ message }) => message],
  ['causeId', ({ causeId }) => causeId],
  ['effects', ({ effects }) => effects],
];

export function eventExport(clusterId: ClusterId): Exported<StoredEvent, EventView> {
  return {
    list: (sql, request) => listEvents(sql, clusterId, request),
    view: eventView,
    columns: COLUMNS,
  };
}
