/**
 * Deliveries of events to webhooks: what is due, which worker delivers it, and the outcome. Needs the system scope.
 *
 * A webhook has one deliverer at a time, by a claim that expires when the deliverer dies. Events become deliveries in the commit that
 * moves the webhook's position in the log, so that none is left out and none is made twice; a delivery whose attempt was not recorded
 * is sent again, with the same id. All times are Postgres'.
 */

import type { AfterAttempt, Attempt } from '@holdfast/access/webhook-delivery.js';
import type { ClusterId, DeliveryId, OrganizationId, WebhookId } from '@holdfast/core/model/ids.js';
import { systemRandom } from '../clock-and-random.js';
import { type EventRow, readEvent } from '../queries/events.js';
import { filterCondition } from '../queries/list-rows.js';
import { WEBHOOK_EVENT_FIELDS } from '../queries/webhooks.js';
import { type Scope, type Sql, transaction } from '../sql/scope.js';
import { insertEvent } from '../store/events.js';

/** Longer than an attempt may take. So long does a dead worker's webhook wait. */
const CLAIM_SECONDS = 30;
/** As the columns keep it: rounded up it would be in the future. */
const NOW = `date_trunc('milliseconds', now())`;
/** Events read at once: those that the filter leaves out cost no more than reading them. */
const EVENTS_PER_READ = 200;

/** A webhook claimed by one worker. */
export type ClaimedWebhook = {
  readonly id: WebhookId;
  readonly organizationId: OrganizationId;
  readonly url: string;
  readonly filter: string;
  readonly claim: string;
};

export type DueDelivery = {
  readonly id: DeliveryId;
  readonly clusterId: ClusterId;
  readonly body: string;
  readonly isRedelivery: boolean;
  /** Attempts before this one. */
  readonly attempts: number;
  /** How long the webhook has failed by now; 0: it has not. */
  readonly failingMs: number;
  /** The newest first. */
  readonly secrets: readonly string[];
};

const HEAD = `SELECT d.id, d.next_attempt_at FROM webhook_delivery d
  WHERE d.webhook_id = w.id AND d.state = 'waiting' AND NOT d.is_redelivery
  ORDER BY d.transaction_id, d.event_id LIMIT 1`;

/**
 * An event that the webhook has not read; null: it is up to date. By its order, which only the index has: as a bare question
 * whether there is one, Postgres reads the whole log of a webhook that is up to date.
 */
const UNREAD = `SELECT e.id FROM event e WHERE e.organization_id = w.organization_id
  AND (e.transaction_id, e.id) > (w.transaction_id, w.event_id) ORDER BY e.transaction_id, e.id LIMIT 1`;

/** Webhooks that have something to do now and no deliverer: those that waited longest come first. */
export async function dueWebhooks(system: Scope, limit: number): Promise<WebhookId[]> {
  const { rows } = await transaction(system, (sql) =>
    sql.query<{ id: WebhookId }>(
      `SELECT w.id FROM webhook w LEFT JOIN LATERAL (${HEAD}) head ON true
       WHERE w.is_enabled AND coalesce(w.claimed_until, '-infinity') <= now() AND (
         head.next_attempt_at <= now()
         OR (head.id IS NULL AND (${UNREAD}) IS NOT NULL)
         OR EXISTS (
           SELECT FROM webhook_delivery d WHERE d.webhook_id = w.id AND d.state = 'waiting' AND d.is_redelivery
             AND d.next_attempt_at <= now()))
       ORDER BY coalesce(w.claimed_until, w.created_at) LIMIT $1`,
      [limit],
    ),
  );
  return rows.map(({ id }) => id);
}

/** `undefined`: it is disabled or gone, or another worker has it. */
export async function claimWebhook(
  system: Scope,
  id: WebhookId,
  claim: string,
): Promise<ClaimedWebhook | undefined> {
  const { rows } = await transaction(system, (sql) =>
    sql.query<ClaimedWebhook>(
      `UPDATE webhook SET claim = $2, claimed_until = now() + interval '${CLAIM_SECONDS} seconds'
       WHERE id = $1 AND is_enabled AND coalesce(claimed_until, '-infinity') <= now()
       RETURNING id, organization_id AS "organizationId", url, filter, claim`,
      [id, claim],
    ),
  );
  return rows[0];
}

export async function releaseWebhook(system: Scope, { id, claim }: ClaimedWebhook): Promise<void> {
  await transaction(system, (sql) =>
    sql.query(`UPDATE webhook SET claim = NULL, claimed_until = ${NOW} WHERE id = $1 AND claim = $2`, [
      id,
      claim,
    ]),
  );
}

/** Next delivery, made from the log if nothing waits. `undefined`: nothing is due, or the claim is lost. */
export function nextDelivery(system: Scope, webhook: ClaimedWebhook): Promise<DueDelivery | undefined> {
  return transaction(system, async (sql) => {
    if (!(await renewClaim(sql, webhook))) return undefined;
    const waiting = await findDue(sql, webhook);
    if (waiting !== undefined) return waiting === 'later' ? undefined : waiting;
    while (await makeDeliveries(sql, webhook)) {
      const made = await findDue(sql, webhook);
      if (made !== undefined && made !== 'later') return made;
    }
    return undefined;
  });
}

async function renewClaim(sql: Sql, { id, claim }: ClaimedWebhook): Promise<boolean> {
  const { rowCount } = await sql.query(
    `UPDATE webhook SET claimed_until = now() + interval '${CLAIM_SECONDS} seconds'
     WHERE id = $1 AND claim = $2 AND is_enabled`,
    [id, claim],
  );
  return rowCount === 1;
}

type DueRow = Omit<DueDelivery, 'secrets'> & { isDue: boolean };

/** A due redelivery, or the oldest delivery. `later`: that one waits, and those behind it with it. */
async function findDue(sql: Sql, { id }: ClaimedWebhook): Promise<DueDelivery | 'later' | undefined> {
  const { rows } = await sql.query<DueRow>(
    `SELECT d.id, d.cluster_id AS "clusterId", d.body, d.is_redelivery AS "isRedelivery", d.attempts,
       d.next_attempt_at <= now() AS "isDue",
       coalesce(extract(epoch FROM now() - w.failing_since) * 1000, 0)::float8 AS "failingMs"
     FROM webhook w JOIN webhook_delivery d ON d.webhook_id = w.id
     WHERE w.id = $1 AND d.state = 'waiting' AND (NOT d.is_redelivery OR d.next_attempt_at <= now())
     ORDER BY d.is_redelivery DESC, d.transaction_id, d.event_id LIMIT 1`,
    [id],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { isDue, ...due } = row;
  return isDue ? { ...due, secrets: await secretsOf(sql, id) } : 'later';
}

async function secretsOf(sql: Sql, id: WebhookId): Promise<string[]> {
  const { rows } = await sql.query<{ secret: string }>(
    `SELECT secret FROM webhook_secret WHERE webhook_id = $1 AND (valid_until IS NULL OR valid_until > now())
     ORDER BY created_at DESC`,
    [id],
  );
  return rows.map(({ secret }) => secret);
}

/** Turns the next events of the log into deliveries. Returns false when there are none yet that can be read. */
async function makeDeliveries(sql: Sql, { id, organizationId, filter }: ClaimedWebhook): Promise<boolean> {
  const values: unknown[] = [id, organizationId, EVENTS_PER_READ];
  const condition = filterCondition(filter, WEBHOOK_EVENT_FIELDS, values);
  const { rows } = await sql.query<EventRow & { is_wanted: boolean }>(
    `SELECT e.*, (${condition}) IS TRUE AS is_wanted FROM webhook w JOIN event e
       ON e.organization_id = $2 AND (e.transaction_id, e.id) > (w.transaction_id, w.event_id)
     WHERE w.id = $1 AND e.transaction_id < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
     ORDER BY e.transaction_id, e.id LIMIT $3`,
    values,
  );
  const last = rows.at(-1);
  if (last === undefined) return false;
  const wanted = rows.filter(({ is_wanted }) => is_wanted);
  await sql.query(
    `INSERT INTO webhook_delivery (id, organization_id, webhook_id, cluster_id, transaction_id, event_id, type, body,
       next_attempt_at, created_at)
     SELECT d.id, $1, $2, d.cluster_id, d.transaction_id, d.event_id, d.type, d.body, ${NOW}, ${NOW}
     FROM unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[], $7::text[], $8::text[])
       AS d (id, cluster_id, transaction_id, event_id, type, body)`,
    [
      organizationId,
      id,
      // Rising with their events, by which the list of deliveries is ordered: ids of one millisecond are random.
      wanted.map(() => systemRandom.id()).sort(),
      wanted.map(({ cluster_id }) => cluster_id),
      wanted.map(({ transaction_id }) => transaction_id),
      wanted.map((row) => row.id),
      wanted.map(({ type }) => type),
      wanted.map(bodyOf),
    ],
  );
  await sql.query('UPDATE webhook SET transaction_id = $2, event_id = $3 WHERE id = $1', [
    id,
    last.transaction_id,
    last.id,
  ]);
  return true;
}

/** The body of the request, as Standard Webhooks have it. */
function bodyOf(row: EventRow): string {
  const { position, clusterId, type, severity, subject, volumeId, message, at } = readEvent(row);
  const id = `${position.transactionId}-${position.id}`;
  const data = { id, clusterId, severity, subject, volumeId: volumeId ?? null, message };
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

export type Attempted = { readonly attempt: Attempt; readonly after: AfterAttempt };

/** Records an attempt. Returns false when the claim is lost: another worker may have sent the same delivery. */
export function recordAttempt(
  system: Scope,
  webhook: ClaimedWebhook,
  delivery: DueDelivery,
  { attempt, after }: Attempted,
): Promise<boolean> {
  return transaction(system, async (sql) => {
    if (!(await renewClaim(sql, webhook))) return false;
    const status = attempt.kind === 'answered' ? attempt.status : null;
    const error = after.kind === 'delivered' ? '' : after.why;
    const state = after.kind === 'delivered' || after.kind === 'failed' ? after.kind : 'waiting';
    await sql.query(
      `UPDATE webhook_delivery SET attempts = attempts + 1, last_attempt_at = now(), last_status = $2, last_error = $3,
         state = $4, next_attempt_at = ${NOW} + $5 * interval '1 millisecond' WHERE id = $1`,
      [delivery.id, status, error, state, after.kind === 'retry' ? after.afterMs : 0],
    );
    if (after.kind === 'delivered') await noteSuccess(sql, webhook);
    else if (!delivery.isRedelivery) await noteFailure(sql, webhook);
    if (after.kind === 'disable') await disable(sql, webhook, delivery, after.why);
    return true;
  });
}

async function noteSuccess(sql: Sql, { id }: ClaimedWebhook): Promise<void> {
  await sql.query('UPDATE webhook SET failing_since = NULL, last_delivered_at = now() WHERE id = $1', [id]);
}

async function noteFailure(sql: Sql, { id }: ClaimedWebhook): Promise<void> {
  await sql.query('UPDATE webhook SET failing_since = coalesce(failing_since, now()) WHERE id = $1', [id]);
}

/** The event goes to the log of the cluster whose event could not be delivered, where that is still there. */
async function disable(
  sql: Sql,
  { id }: ClaimedWebhook,
  { clusterId }: DueDelivery,
  why: string,
): Promise<void> {
  const { rows } = await sql.query<{ name: string; at: Date; has_cluster: boolean }>(
    `UPDATE webhook SET is_enabled = false, disabled_reason = $2, version = version + 1 WHERE id = $1
     RETURNING name, now() AS at, EXISTS (SELECT FROM cluster WHERE id = $3) AS has_cluster`,
    [id, why, clusterId],
  );
  const [row] = rows;
  if (row?.has_cluster !== true) return;
  const message = `the webhook ${row.name} gets no more events: ${why}`;
  const subject = { kind: 'webhook' as const, id };
  const event = {
    clusterId,
    type: 'WebhookDisabled' as const,
    subject,
    volumeId: undefined,
    message,
    at: row.at,
  };
  await insertEvent(sql, event);
}
