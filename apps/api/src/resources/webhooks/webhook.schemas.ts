import type { DeliveryId, WebhookId } from '@holdfast/core/model/ids.js';
import type { DeliveryRow, WebhookRow } from '@holdfast/database/queries/webhooks.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, isoOrNull, pageOf, time, uuid, version } from '../../http/schemas.js';

const name = z.string().trim().min(1).max(128);
const url = z
  .url({ protocol: /^https?$/, error: 'must be an https address' })
  .max(2_000)
  .refine((text) => {
    // Also called for texts that are no URL.
    if (!URL.canParse(text)) return true;
    const { username, password, hash } = new URL(text);
    return username === '' && password === '' && hash === '';
  }, 'must have no user, password or fragment');
const filter = z.string().max(1_000);
const FILTER_WORDS =
  'Filter for events, in the syntax of lists, such as `severity in (warning, error) AND type!=Rebuild*`; empty: all.';

export const webhookSchema = z
  .object({
    id: uuid.describe('Id of the webhook.'),
    name: z.string().describe('For people.'),
    url: z.string().describe('URL of the receiver.'),
    filter: z.string().describe(FILTER_WORDS),
    isEnabled: z.boolean().describe('True: events are sent.'),
    disabledReason: z
      .string()
      .nullable()
      .describe(
        'Reason for which the server disabled it; null: not by the server. Enabling it continues where it stopped.',
      ),
    failingSince: time
      .nullable()
      .describe('Time of the first failure after the last success; null: the last attempt succeeded.'),
    lastDeliveredAt: time.nullable().describe('Time of the last successful delivery; null: never.'),
    version,
    createdAt: time.describe('Time of its creation; it gets later events.'),
  })
  .meta({ id: 'Webhook' });

export function webhookView(row: WebhookRow): z.infer<typeof webhookSchema> {
  return {
    ...row,
    disabledReason: row.disabledReason === '' ? null : row.disabledReason,
    failingSince: isoOrNull(row.failingSince ?? undefined),
    lastDeliveredAt: isoOrNull(row.lastDeliveredAt ?? undefined),
    createdAt: row.createdAt.toISOString(),
  };
}

export const deliverySchema = z
  .object({
    id: uuid.describe('Its `webhook-id`: the same in each attempt, so that a receiver recognizes a repeat.'),
    clusterId: uuid.describe("Id of the event's cluster."),
    eventId: z.string().describe('Id of the event.'),
    type: z.string().describe('Type of the event.'),
    state: z
      .enum(['waiting', 'delivered', 'failed'])
      .describe('`waiting`: to be tried or retried; `failed`: given up.'),
    attempts: z.int().describe('Number of attempts since its creation or last repeat.'),
    nextAttemptAt: time.nullable().describe('Earliest time of the next attempt; null: none follows.'),
    lastAttemptAt: time.nullable().describe('Time of the last attempt; null: never.'),
    lastStatus: z.int().nullable().describe('HTTP status of the last answer; null: none.'),
    lastError: z.string().nullable().describe('Error of the last attempt; null: none.'),
    createdAt: time.describe('Time of its creation.'),
  })
  .meta({ id: 'WebhookDelivery' });

export function deliveryView(row: DeliveryRow): z.infer<typeof deliverySchema> {
  return {
    ...row,
    nextAttemptAt: row.state === 'waiting' ? row.nextAttemptAt.toISOString() : null,
    lastAttemptAt: isoOrNull(row.lastAttemptAt ?? undefined),
    lastError: row.lastError === '' ? null : row.lastError,
    createdAt: row.createdAt.toISOString(),
  };
}

const secret = z
  .string()
  .describe('Secret for the signatures of deliveries, as in Standard Webhooks. Shown in this answer only.');

export class WebhookPath extends dto(
  z.object({ webhookId: id<WebhookId>().describe('Id of the webhook.') }),
) {}
export class DeliveryPath extends dto(
  z.object({
    webhookId: id<WebhookId>().describe('Id of the webhook.'),
    deliveryId: id<DeliveryId>().describe('Id of the delivery.'),
  }),
) {}
export class CreateWebhookBody extends dto(
  z.strictObject({
    name: name.describe('For people.'),
    url: url.describe('An https address; http only in networks that the operator allows.'),
    filter: filter.default('').describe(FILTER_WORDS),
  }),
) {}
export class PatchWebhookBody extends dto(
  z.strictObject({
    name: name.optional().describe('For people.'),
    url: url.optional().describe('URL of the receiver.'),
    filter: filter.optional().describe(FILTER_WORDS),
    isEnabled: z.boolean().optional().describe('True: events are sent.'),
    skipBacklog: z
      .boolean()
      .default(false)
      .describe('True: give up waiting deliveries, and continue with events from now on.'),
  }),
) {}
export class RotateWebhookSecretBody extends dto(
  z.strictObject({
    overlapHours: z
      .int()
      .min(0)
      .max(168)
      .default(24)
      .describe('Hours in which the previous secret signs too, so that a receiver can switch.'),
  }),
) {}
export class WebhookDto extends dto(webhookSchema) {}
export class WebhookPage extends dto(pageOf(webhookSchema, 'WebhookList')) {}
export class NewWebhookDto extends dto(webhookSchema.extend({ secret }).meta({ id: 'NewWebhook' })) {}
export class WebhookSecretDto extends dto(
  z
    .object({
      secret,
      previousValidUntil: time.describe('Time until which the previous secret signs too.'),
    })
    .meta({ id: 'WebhookSecret' }),
) {}
export class DeliveryDto extends dto(deliverySchema) {}
export class DeliveryPage extends dto(pageOf(deliverySchema, 'WebhookDeliveryList')) {}
