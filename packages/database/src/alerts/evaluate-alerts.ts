/**
 * Evaluation of the alerts of all clusters: reads the facts, lets core decide the changes, and stores them with their events in one
 * commit. One worker at a time does so for a cluster. Needs the system scope.
 */

import { ALERT_RULES, isAlertRule } from '@holdfast/core/alerts/alert-rules.js';
import {
  ALERT_FIELDS,
  type AlertChange,
  decideAlerts,
  eventTypeOf,
  type FiringAlert,
  type Silence,
} from '@holdfast/core/alerts/decide-alerts.js';
import { type AlertEffects, findAlerts } from '@holdfast/core/alerts/find-alerts.js';
import { parseFilter } from '@holdfast/core/listing/filter.js';
import type { ClusterId, OrganizationId } from '@holdfast/core/model/ids.js';
import { systemRandom } from '../clock-and-random.js';
import { type Scope, type Sql, transaction } from '../sql/scope.js';
import { insertEvent } from '../store/events.js';
import { loadAlertFacts } from './load-facts.js';

/** More than a cluster may have at once. Those that end last count first. */
const SILENCES_MAX = 1_000;

type Cluster = { id: ClusterId; name: string; organization_id: OrganizationId };

/** @param onError receives the error of a cluster whose alerts could not be evaluated; the others are evaluated */
export async function evaluateAlerts(
  system: Scope,
  now: Date,
  onError: (error: unknown, clusterId: ClusterId) => void,
): Promise<void> {
  const { rows } = await transaction(system, (sql) =>
    sql.query<Cluster>('SELECT id, name, organization_id FROM cluster ORDER BY id'),
  );
  for (const cluster of rows) {
    await transaction(system, (sql) => evaluate(sql, cluster, now)).catch((error: unknown) =>
      onError(error, cluster.id),
    );
  }
}

async function evaluate(sql: Sql, cluster: Cluster, now: Date): Promise<void> {
  const { rows } = await sql.query<{ mine: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('alerts ' || $1::text, 0)) AS mine`,
    [cluster.id],
  );
  if (rows[0]?.mine !== true) return;
  const found = findAlerts(await loadAlertFacts(sql, cluster), now);
  const changes = decideAlerts(
    found,
    await loadFiring(sql, cluster.id),
    await loadSilences(sql, cluster.id, now),
    now,
  );
  for (const change of changes) await store(sql, cluster, change, now);
}

type AlertRow = {
  id: string;
  rule: string;
  subject_id: string;
  subject_name: string;
  since: Date;
  message: string;
  effects: AlertEffects;
  told_at: Date | null;
  silence_id: string | null;
};

async function loadFiring(sql: Sql, clusterId: ClusterId): Promise<FiringAlert[]> {
  const { rows } = await sql.query<AlertRow>(
    'SELECT * FROM alert WHERE cluster_id = $1 AND resolved_at IS NULL',
    [clusterId],
  );
  return rows.flatMap(({ id, rule, since, message, effects, ...row }): FiringAlert[] => {
    // A rule of another version: a worker of that version handles it.
    if (!isAlertRule(rule)) return [];
    const subject = { id: row.subject_id, name: row.subject_name };
    const silenceId = row.silence_id ?? undefined;
    return [{ id, rule, subject, since, message, effects, isTold: row.told_at !== null, silenceId }];
  });
}

type SilenceRow = Omit<Silence, 'matcher'> & { matcher: string };

async function loadSilences(sql: Sql, clusterId: ClusterId, now: Date): Promise<Silence[]> {
  const { rows } = await sql.query<SilenceRow>(
    `SELECT id, matcher, starts_at AS "startsAt", ends_at AS "endsAt" FROM silence
     WHERE cluster_id = $1 AND ends_at > $2 ORDER BY ends_at DESC, id DESC LIMIT $3`,
    [clusterId, now, SILENCES_MAX],
  );
  return rows.flatMap(({ matcher, ...row }) => {
    const parsed = parseFilter(matcher, ALERT_FIELDS);
    return parsed === undefined ? [] : [{ ...row, matcher: parsed }];
  });
}

async function store(sql: Sql, cluster: Cluster, change: AlertChange, now: Date): Promise<void> {
  const { alert } = change;
  const id = change.kind === 'fire' ? systemRandom.id() : change.id;
  if (change.kind === 'fire') await insertAlert(sql, cluster, { id, ...change }, now);
  else if (change.kind === 'update') {
    await sql.query(
      `UPDATE alert SET message = $2, effects = $3, silence_id = $4, changed_at = $5,
         told_at = coalesce(told_at, CASE WHEN $6 THEN $5::timestamptz END) WHERE id = $1`,
      [id, alert.message, JSON.stringify(alert.effects), change.silenceId ?? null, now, change.tells],
    );
  } else await sql.query('UPDATE alert SET resolved_at = $2, changed_at = $2 WHERE id = $1', [id, now]);
  if (!change.tells) return;
  const type = change.kind === 'resolve' ? ('AlertResolved' as const) : eventTypeOf(alert.rule);
  const said = change.kind === 'resolve' ? `it is over: ${alert.message}` : alert.message;
  const message = `${alert.rule}: ${said}`;
  const subject = { kind: 'alert' as const, id };
  await insertEvent(sql, { clusterId: cluster.id, type, subject, volumeId: undefined, message, at: now });
}

type NewAlert = Extract<AlertChange, { kind: 'fire' }> & { id: string };

async function insertAlert(
  sql: Sql,
  { id: clusterId, organization_id }: Cluster,
  { id, alert, silenceId, tells }: NewAlert,
  now: Date,
): Promise<void> {
  const { severity, subject } = ALERT_RULES[alert.rule];
  await sql.query(
    `INSERT INTO alert (id, organization_id, cluster_id, rule, severity, subject_kind, subject_id, subject_name, message,
       effects, since, changed_at, told_at, silence_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      id,
      organization_id,
      clusterId,
      alert.rule,
      severity,
      subject,
      alert.subject.id,
      alert.subject.name,
      alert.message,
      JSON.stringify(alert.effects),
      alert.since,
      now,
      tells ? now : null,
      silenceId ?? null,
    ],
  );
}
