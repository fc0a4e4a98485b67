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
    // Asked of a text that is no address too.
    if (!URL.canParse(text)) return true;
    const { username, password, hash } = new URL(text);
    return username === '' && password === '' && hash === '';
  }, 'must have no user, password or fragment');
const filter = z.string().max(1_000);
const FILTER_WORDS =
  'Which events, as lists are filtered, such as `severity in (warning, error) AND type!=Rebuild*`; empty: all.';

export const webhookSchema = z
  .object({
    id: uuid.describe('Id of the webhook.'),
    name: z.string().describe('For people.'),
    url: z.string().describe('Where events are sent to.'),
    filter: z.string().describe(FILTER_WORDS),
    isEnabled: z.boolean().describe('Whether events are sent.'),
    disabledReason: z
      .string()
      .nullable()
      .describe(
        'Why it was disabled, where that was not a user, and null else; enabling it goes on where it stopped.',
      ),
    failingSince: time
      .nullable()
      .describe('The first failure after the last success; null: the last attempt succeeded.'),
    lastDeliveredAt: time.nullable().describe('When its receiver last took an event; null: never.'),
    version,
    createdAt: time.describe('When it was created; it gets what happened since then.'),
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
    id: uuid.describe('Its `webhook-id`: the same in each attempt, so that a receiver knows a repeat.'),
    clusterId: uuid.describe('The cluster of the event.'),
    eventId: z.string().describe('Id of the event.'),
    type: z.string().describe('Type of the event.'),
    state: z
      .enum(['waiting', 'delivered', 'failed'])
      .describe('`waiting`: it is tried again; `failed`: it was given up.'),
    attempts: z.int().describe('Attempts since it was made, or since it was asked for again.'),
    nextAttemptAt: time.nullable().describe('When it is tried next, at the earliest; null: not any more.'),
    lastAttemptAt: time.nullable().describe('When it was last tried; null: never.'),
    lastStatus: z.int().nullable().describe('What its receiver answered then; null: nothing.'),
    lastError: z
      .string()
      .nullable()
      .describe('Why that was no success; null: it was one, or there was none.'),
    createdAt: time.describe('When it was made of its event.'),
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
  .describe('What deliveries are signed with, as Standard Webhooks have it. It is shown this once.');

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
    url: url.optional().describe('Where events are sent to.'),
    filter: filter.optional().describe(FILTER_WORDS),
    isEnabled: z.boolean().optional().describe('Whether events are sent.'),
    skipBacklog: z
      .boolean()
      .default(false)
      .describe('Give up what waits, and go on with what happens from now on.'),
  }),
) {}
export class RotateWebhookSecretBody extends dto(
  z.strictObject({
    overlapHours: z
      .int()
      .min(0)
      .max(168)
      .default(24)
      .describe('Hours in which the secret before signs too, so that a receiver can change over.'),
  }),
) {}
export class WebhookDto extends dto(webhookSchema) {}
export class WebhookPage extends dto(pageOf(webhookSchema, 'WebhookList')) {}
export class NewWebhookDto extends dto(webhookSchema.extend({ secret }).meta({ id: 'NewWebhook' })) {}
export class WebhookSecretDto extends dto(
  z
    .object({
      secret,
      previousValidUntil: time.describe('Until then the secret before signs too.'),
    })
    .meta({ id: 'WebhookSecret' }),
) {}
export class DeliveryDto extends dto(deliverySchema) {}
export class DeliveryPage extends dto(pageOf(deliverySchema, 'WebhookDeliveryList')) {}
