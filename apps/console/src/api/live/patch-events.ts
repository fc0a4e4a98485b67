/** An event of the stream, put on top of a list of events that is shown, if the list's filter lets it through. */
import { type Filter, parseFilter } from '@holdfast/core/listing/filter.js';
import { EVENT_FIELDS } from '@holdfast/core/listing/list-fields.js';
import { matchesFilter } from '@holdfast/core/listing/match-filter.js';
import type { ClusterEvent } from '../types';

/** What only the API can tell of an event. */
const ONLY_STORED = ['nodeId', 'projectId'];

/** @returns the list with the event on top; `undefined`: only the API can tell whether it belongs there */
export function withEvent(
  events: readonly ClusterEvent[],
  event: ClusterEvent,
  filterText: string,
): ClusterEvent[] | undefined {
  const filter = parseFilter(filterText, EVENT_FIELDS);
  if (filter !== undefined && needsStored(filter)) return undefined;
  if (events.some(({ id }) => id === event.id)) return [...events];
  if (filter !== undefined && !matchesFilter(filter, fieldsOf(event))) return [...events];
  return [event, ...events];
}

/** Does the event change how many follow from another one? A loss has claimed some that were told before. */
export function changesEffects({ type, causeId }: ClusterEvent): boolean {
  return causeId !== null || type === 'NodeNotReady' || type === 'DiskNotReady';
}

/** The number of an event, as filters have it. */
export function numberOf(id: string): number {
  return Number(id.split('-')[1] ?? 0);
}

function needsStored(filter: Filter): boolean {
  return filter.kind === 'comparison' ? ONLY_STORED.includes(filter.field) : filter.parts.some(needsStored);
}

function fieldsOf(event: ClusterEvent) {
  const { id, type, severity, subject, clusterId, volumeId, at, causeId } = event;
  return {
    id: numberOf(id),
    type,
    severity,
    subjectKind: subject.kind,
    subjectId: subject.id,
    clusterId,
    volumeId: volumeId ?? '',
    at,
    causeId: causeId === null ? 0 : numberOf(causeId),
  };
}
