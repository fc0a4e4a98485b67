/** Alerts as users see them, and the silences that they make. */

import type { AlertSeverity, AlertSubjectKind } from '@holdfast/core/alerts/alert-rules.js';
import { ALERT_FIELDS } from '@holdfast/core/alerts/decide-alerts.js';
import type { AlertEffects } from '@holdfast/core/alerts/find-alerts.js';
import { parseFilter } from '@holdfast/core/listing/filter.js';
import type { AlertId, ClusterId, OrganizationId, SilenceId } from '@holdfast/core/model/ids.js';
import { withPlainRows } from '../plain/plain-rows.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';
import { type ListRequest, listRows } from './list-rows.js';

export type AlertRow = {
  id: AlertId;
  clusterId: ClusterId;
  rule: string;
  severity: AlertSeverity;
  subjectKind: AlertSubjectKind;
  subjectId: string;
  subjectName: string;
  message: string;
  effects: AlertEffects;
  since: Date;
  resolvedAt: Date | null;
  silenceId: SilenceId | null;
};
export type SilenceRow = {
  id: SilenceId;
  clusterId: ClusterId;
  matcher: string;
  comment: string;
  startsAt: Date;
  endsAt: Date;
  author: string;
  version: number;
  createdAt: Date;
};

const STATE = `CASE WHEN a.resolved_at IS NOT NULL THEN 'resolved' WHEN a.silence_id IS NOT NULL THEN 'silenced' ELSE 'firing' END`;
const FIELDS = {
  id: { sql: 'a.id', type: 'id' },
  state: { sql: STATE, type: 'text' },
  rule: { sql: 'a.rule', type: 'text' },
  severity: { sql: 'a.severity', type: 'text' },
  subjectKind: { sql: 'a.subject_kind', type: 'text' },
  subjectId: { sql: 'a.subject_id', type: 'text' },
  subjectName: { sql: 'a.subject_name', type: 'text' },
  since: { sql: 'a.since', type: 'time' },
} as const;
const SILENCE_FIELDS = {
  id: { sql: 's.id', type: 'id' },
  author: { sql: 's.author', type: 'text' },
  startsAt: { sql: 's.starts_at', type: 'time' },
  endsAt: { sql: 's.ends_at', type: 'time' },
} as const;

const COLUMNS = `a.id, a.cluster_id AS "clusterId", a.rule, a.severity, a.subject_kind AS "subjectKind", a.subject_id AS "subjectId",
  a.subject_name AS "subjectName", a.message, a.effects, a.since, a.resolved_at AS "resolvedAt", a.silence_id AS "silenceId"`;

export function listAlerts(sql: Sql, clusterId: ClusterId, request: ListRequest) {
  const where = { text: 'a.cluster_id = $1', values: [clusterId] };
  const source = { columns: COLUMNS, from: 'alert a', key: FIELDS.id, fields: FIELDS, where };
  return listRows<AlertRow>(sql, { ...source, defaultSort: '-since' }, request);
}

type AlertKey = { clusterId: ClusterId; alertId: AlertId };

export async function findAlert(sql: Sql, { clusterId, alertId }: AlertKey): Promise<AlertRow | undefined> {
  const { rows } = await sql.query<AlertRow>(
    `SELECT ${COLUMNS} FROM alert a WHERE a.cluster_id = $1 AND a.id = $2`,
    [clusterId, alertId],
  );
  return rows[0];
}

const SILENCE_COLUMNS = `s.id, s.cluster_id AS "clusterId", s.matcher, s.comment, s.starts_at AS "startsAt", s.ends_at AS "endsAt",
  s.author, s.version, s.created_at AS "createdAt"`;

export function listSilences(sql: Sql, clusterId: ClusterId, request: ListRequest) {
  const where = { text: 's.cluster_id = $1', values: [clusterId] };
  const source = {
    columns: SILENCE_COLUMNS,
    from: 'silence s',
    key: SILENCE_FIELDS.id,
    fields: SILENCE_FIELDS,
    where,
  };
  return listRows<SilenceRow>(sql, { ...source, defaultSort: '-endsAt' }, request);
}

type SilenceKey = { clusterId: ClusterId; silenceId: SilenceId };

export async function findSilence(
  sql: Sql,
  { clusterId, silenceId }: SilenceKey,
): Promise<SilenceRow | undefined> {
  const { rows } = await sql.query<SilenceRow>(
    `SELECT ${SILENCE_COLUMNS} FROM silence s WHERE s.cluster_id = $1 AND s.id = $2`,
    [clusterId, silenceId],
  );
  return rows[0];
}

/** Silences that have not ended. */
export async function countSilences(sql: Sql, clusterId: ClusterId, now: Date): Promise<number> {
  return withPlainRows(sql, ({ silence }) => silence.count({ where: { clusterId, endsAt: { gt: now } } }));
}

export async function createSilence(
  sql: Sql,
  given: SilenceRow & { organizationId: OrganizationId },
): Promise<void> {
  await withPlainRows(sql, ({ silence }) => silence.createMany({ data: [given] }));
}

/** Its end, moved. */
export async function changeSilenceEnd(
  sql: Sql,
  { id, version }: Pick<SilenceRow, 'id' | 'version'>,
  endsAt: Date,
): Promise<void> {
  const data = { endsAt, version: { increment: 1 } };
  const { count } = await withPlainRows(sql, ({ silence }) =>
    silence.updateMany({ where: { id, version }, data }),
  );
  if (count !== 1) throw conflict('another request has changed it meanwhile');
}

/** An empty one would silence all. @throws StorageFault `request.invalid` for one that can't be parsed */
export function isMatcher(text: string): boolean {
  return parseFilter(text, ALERT_FIELDS) !== undefined;
}
