/**
 * Delivery to one webhook: sends what is due, in the order of the log, until nothing is or an attempt fails.
 *
 * Crash behaviour: an attempt that was not recorded is repeated, by whichever worker claims the webhook next.
 */
import { randomUUID } from 'node:crypto';
import { type Attempt, decideAfterAttempt } from '@holdfast/access/webhook-delivery.js';
import type { WebhookId } from '@holdfast/core/model/ids.js';
import type { Scope } from '@holdfast/database/sql/scope.js';
import {
  type ClaimedWebhook,
  claimWebhook,
  type DueDelivery,
  nextDelivery,
  recordAttempt,
  releaseWebhook,
} from '@holdfast/database/webhooks/deliveries.js';
import type { MayAct } from '../runtime/long-runs.js';
import { type SendOptions, sendSigned } from './send-signed.js';

/** Deliveries per run, so that a webhook with a long backlog lets others have its slot. */
const SENT_MAX = 100;

export type DeliverParts = { readonly system: Scope; readonly sending: SendOptions };

export async function deliver(parts: DeliverParts, id: WebhookId, mayAct: MayAct): Promise<void> {
  const webhook = await claimWebhook(parts.system, id, randomUUID());
  if (webhook === undefined) return;
  try {
    for (let sent = 0; sent < SENT_MAX && mayAct(webhook.organizationId); sent += 1) {
      const delivery = await nextDelivery(parts.system, webhook);
      if (delivery === undefined || !(await send(parts, webhook, delivery))) return;
    }
  } finally {
    await releaseWebhook(parts.system, webhook);
  }
}

/** True: the next one may be sent. */
async function send(
  { system, sending }: DeliverParts,
  webhook: ClaimedWebhook,
  delivery: DueDelivery,
): Promise<boolean> {
  const { id, body, secrets, attempts, failingMs, isRedelivery } = delivery;
  const attempt: Attempt = await sendSigned(webhook.url, { id, body, secrets, at: new Date() }, sending);
  const facts = { attempts: attempts + 1, failingMs, isRedelivery, chance: Math.random() };
  const after = decideAfterAttempt(attempt, facts);
  const isMine = await recordAttempt(system, webhook, delivery, { attempt, after });
  return isMine && (after.kind === 'delivered' || isRedelivery);
}
