/** Webhooks as users configure them, and the log of deliveries. Secrets are written here and never read. */
import type { ClusterId, DeliveryId, OrganizationId, UserId, WebhookId } from '@holdfast/core/model/ids.js';
import { withPlainRows } from '../plain/plain-rows.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';
import { currentEventPosition, EVENT_FIELDS } from './events.js';
import { filterCondition, type ListFields, type ListRequest, listRows } from './list-rows.js';

export type WebhookRow = {
  id: WebhookId;
  name: string;
  url: string;
  filter: string;
  isEnabled: boolean;
  /** Why it was disabled by other than a user; empty: it was not. */
  disabledReason: string;
  failingSince: Date | null;
  lastDeliveredAt: Date | null;
  version: number;
  createdAt: Date;
};

export type DeliveryState = 'waiting' | 'delivered' | 'failed';
export type DeliveryRow = {
  id: DeliveryId;
  clusterId: ClusterId;
  eventId: string;
  type: string;
  state: DeliveryState;
  attempts: number;
  nextAttemptAt: Date;
  lastAttemptAt: Date | null;
  lastStatus: number | null;
  lastError: string;
  createdAt: Date;
};

const FIELDS = {
  id: { sql: 'w.id', type: 'id' },
  name: { sql: 'w.name', type: 'text' },
  isEnabled: { sql: 'w.is_enabled', type: 'boolean' },
  createdAt: { sql: 'w.created_at', type: 'time' },
} as const;

const DELIVERY_FIELDS = {
  id: { sql: 'd.id', type: 'id' },
  type: { sql: 'd.type', type: 'text' },
  state: { sql: 'd.state', type: 'text' },
  clusterId: { sql: 'd.cluster_id', type: 'id' },
  createdAt: { sql: 'd.created_at', type: 'time' },
} as const;

/** Fields of a webhook's filter. */
export const WEBHOOK_EVENT_FIELDS: ListFields = {
  ...EVENT_FIELDS,
  clusterId: { sql: 'e.cluster_id', type: 'id' },
};

/** @throws StorageFault `request.invalid` for a filter that can't be read */
export function assertEventFilter(filter: string): void {
  filterCondition(filter, WEBHOOK_EVENT_FIELDS, []);
}

const COLUMNS = `w.id, w.name, w.url, w.filter, w.is_enabled AS "isEnabled", w.disabled_reason AS "disabledReason",
  w.failing_since AS "failingSince", w.last_delivered_at AS "lastDeliveredAt", w.version, w.created_at AS "createdAt"`;

export function listWebhooks(sql: Sql, request: ListRequest) {
  const where = { text: 'true', values: [] };
  const source = { columns: COLUMNS, from: 'webhook w', key: FIELDS.id, fields: FIELDS, where };
  return listRows<WebhookRow>(sql, { ...source, defaultSort: '-createdAt' }, request);
}

export async function findWebhook(sql: Sql, id: WebhookId): Promise<WebhookRow | undefined> {
  const { rows } = await sql.query<WebhookRow>(`SELECT ${COLUMNS} FROM webhook w WHERE w.id = $1`, [id]);
  return rows[0];
}

/** How many the organization has, while no other request makes one. */
export async function countWebhooks(sql: Sql, organizationId: OrganizationId): Promise<number> {
  await sql.query(`SELECT pg_advisory_xact_lock(hashtextextended('webhooks ' || $1::text, 0))`, [
    organizationId,
  ]);
  return withPlainRows(sql, ({ webhook }) => webhook.count({ where: { organizationId } }));
}

export type NewWebhook = Pick<WebhookRow, 'id' | 'name' | 'url' | 'filter' | 'createdAt'> & {
  organizationId: OrganizationId;
  madeBy: UserId;
};
/** Signing secret of a webhook. Its id tells two of them apart. */
export type NewSecret = { id: string; secret: string };

/** Creates a webhook that receives events from now on. */
export async function createWebhook(sql: Sql, given: NewWebhook, secret: NewSecret): Promise<void> {
  const { transactionId, id: eventId } = await currentEventPosition(sql);
  const { id: webhookId, organizationId, createdAt } = given;
  await withPlainRows(sql, async (rows) => {
    await rows.webhook.create({ data: { ...given, transactionId, eventId } });
    await rows.webhookSecret.createMany({ data: [{ ...secret, webhookId, organizationId, createdAt }] });
  });
}

export type WebhookChange = Partial<Pick<WebhookRow, 'name' | 'url' | 'filter' | 'isEnabled'>> & {
  /** User who changes it, and is responsible for it afterwards. */
  madeBy: UserId;
};

export async function changeWebhook(
  sql: Sql,
  { id, fromVersion }: { id: WebhookId; fromVersion: number },
  change: WebhookChange,
): Promise<void> {
  await withPlainRows(sql, async ({ webhook, webhookDelivery }) => {
    const again = change.isEnabled === true ? { disabledReason: '', failingSince: null } : {};
    const { count } = await webhook.updateMany({
      where: { id, version: fromVersion },
      data: { ...change, ...again, version: { increment: 1 } },
    });
    if (count !== 1) throw conflict('another request has changed it meanwhile');
    // Another address, or a receiver that works again: what waits is tried at once.
    const where = { webhookId: id, state: 'waiting' };
    await webhookDelivery.updateMany({ where, data: { nextAttemptAt: new Date(0) } });
  });
}

/** Drops waiting deliveries, and continues with new events. */
export async function skipBacklog(sql: Sql, id: WebhookId): Promise<void> {
  const { transactionId, id: eventId } = await currentEventPosition(sql);
  await withPlainRows(sql, async ({ webhook, webhookDelivery }) => {
    await webhook.updateMany({ where: { id }, data: { transactionId, eventId } });
    const data = { state: 'failed', lastError: 'it was skipped, as a user asked' };
    await webhookDelivery.updateMany({ where: { webhookId: id, state: 'waiting' }, data });
  });
}

/** Returns false when there is no such webhook. */
export function deleteWebhook(sql: Sql, id: WebhookId): Promise<boolean> {
  return withPlainRows(sql, async ({ webhook }) => (await webhook.deleteMany({ where: { id } })).count === 1);
}

/** A new secret; the one before it signs beside it until then, and older ones are gone. */
export async function rotateSecret(
  sql: Sql,
  { id: webhookId, organizationId }: Pick<NewWebhook, 'id' | 'organizationId'>,
  { secret, now, overlapUntil }: { secret: NewSecret; now: Date; overlapUntil: Date },
): Promise<void> {
  // Of two requests at once the second one's overlap is about the first one's secret.
  await sql.query('SELECT FROM webhook WHERE id = $1 FOR UPDATE', [webhookId]);
  await withPlainRows(sql, async ({ webhookSecret }) => {
    await webhookSecret.deleteMany({ where: { webhookId, NOT: { validUntil: null } } });
    await webhookSecret.updateMany({ where: { webhookId }, data: { validUntil: overlapUntil } });
    await webhookSecret.createMany({ data: [{ ...secret, webhookId, organizationId, createdAt: now }] });
  });
}

const DELIVERY_COLUMNS = `d.id, d.cluster_id AS "clusterId", d.transaction_id || '-' || d.event_id AS "eventId", d.type, d.state,
  d.attempts, d.next_attempt_at AS "nextAttemptAt", d.last_attempt_at AS "lastAttemptAt", d.last_status AS "lastStatus",
  d.last_error AS "lastError", d.created_at AS "createdAt"`;

export function listDeliveries(sql: Sql, webhookId: WebhookId, request: ListRequest) {
  return listRows<DeliveryRow>(
    sql,
    {
      columns: DELIVERY_COLUMNS,
      from: 'webhook_delivery d',
      key: DELIVERY_FIELDS.id,
      fields: DELIVERY_FIELDS,
      // Those of one look at the log are made at one time; their ids rise with their events.
      defaultSort: '-createdAt,-id',
      where: { text: 'd.webhook_id = $1', values: [webhookId] },
    },
    request,
  );
}

type DeliveryKey = { webhookId: WebhookId; deliveryId: DeliveryId };

export async function findDelivery(sql: Sql, key: DeliveryKey): Promise<DeliveryRow | undefined> {
  const { rows } = await sql.query<DeliveryRow>(
    `SELECT ${DELIVERY_COLUMNS} FROM webhook_delivery d WHERE d.webhook_id = $1 AND d.id = $2`,
    [key.webhookId, key.deliveryId],
  );
  return rows[0];
}

/** Repeats a delivery that has ended. Returns false for one that waits already. */
export function requestRedelivery(sql: Sql, key: DeliveryKey, now: Date): Promise<boolean> {
  const where = { id: key.deliveryId, webhookId: key.webhookId, NOT: { state: 'waiting' } };
  const data = { state: 'waiting', isRedelivery: true, attempts: 0, nextAttemptAt: now };
  return withPlainRows(
    sql,
    async ({ webhookDelivery }) => (await webhookDelivery.updateMany({ where, data })).count === 1,
  );
}
