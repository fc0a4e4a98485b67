/** Export of the audit log: pages of entries, oldest first, as text. */
import { listAuditEntries } from '@holdfast/database/queries/audit.js';
import type { Tenant } from '../platform/tenant.js';
import { type AuditEntryView, auditEntryView } from './audit.view.js';

const PAGE = 500;

export type AuditExport = {
  readonly format: 'ndjson' | 'csv';
  readonly filter?: string | undefined;
  readonly after: number;
  readonly limit: number;
};

/** @throws StorageFault `request.invalid` for a filter that can't be read: later it would only cut the answer off */
export async function requireExportable(tenant: Tenant, options: AuditExport): Promise<void> {
  await tenant.read((sql) => listAuditEntries(sql, { limit: 1, filter: filterOf(options) }));
}

function filterOf({ after, filter = '' }: AuditExport): string {
  return [`id>${after}`, ...(filter.trim() === '' ? [] : [filter])].join(' AND ');
}

/** One text for each page. A caller that reads slowly is waited for between pages, without a connection. */
export async function* exportAudit(tenant: Tenant, options: AuditExport): AsyncGenerator<string> {
  const { format, limit } = options;
  const filter = filterOf(options);
  let cursor: string | undefined;
  let left = limit;
  if (format === 'csv') yield `${COLUMNS.map(([name]) => name).join(',')}\r\n`;
  do {
    const request = { limit: Math.min(PAGE, left), filter, sort: 'id', cursor };
    const page = await tenant.read((sql) => listAuditEntries(sql, request));
    const lines = page.items.map((row) => lineOf(format, auditEntryView(row)));
    if (lines.length > 0) yield lines.join('');
    left -= page.items.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && left > 0 && !tenant.gone.aborted);
}

function lineOf(format: AuditExport['format'], entry: AuditEntryView): string {
  if (format === 'ndjson') return `${JSON.stringify(entry)}\n`;
  return `${COLUMNS.map(([, read]) => cell(read(entry))).join(',')}\r\n`;
}

const COLUMNS: readonly (readonly [name: string, read: (entry: AuditEntryView) => unknown])[] = [
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

/** Quoted as RFC 4180 says. A spreadsheet takes a cell that begins with one of these for a formula; a quote makes it text. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
