/** The audit log's export. */
import { listAuditEntries } from '@holdfast/database/queries/audit.js';
import type { Exported } from '../../access/export-lines.js';
import { type AuditEntryView, auditEntryView } from './audit.view.js';

const COLUMNS: Exported<Row, AuditEntryView>['columns'] = [
  ['id', ({ id }) => id],
  ['at', ({ at }) => at],
  ['actorKind', ({ actor }) => actor.kind],
  ['actorId', ({ actor }) => actor.id],
  ['address', ({ address }) => address],
  ['action', ({ action }) => action],
  ['targetKind', ({ target }) => target.kind],
  ['targetId', ({ target }) => target.id],
  ['result', ({ result }) => result],
  ['reason', ({ reason }) => reason],
  ['before', ({ before }) => before],
  ['after', ({ after }) => after],
  ['requestId', ({ requestId }) => requestId],
  ['traceId', ({ traceId }) => traceId],
  ['detail', ({ detail }) => detail],
  ['sequence', ({ sequence }) => sequence],
  ['hash', ({ hash }) => hash],
];

type Row = Parameters<typeof auditEntryView>[0];

export const AUDIT_EXPORT: Exported<Row, AuditEntryView> = {
  list: listAuditEntries,
  view: auditEntryView,
  columns: COLUMNS,
};
