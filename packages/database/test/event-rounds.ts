/** Rounds of what reads the event log and the cluster's state beside the reconcilers, with each of their outcomes once. */
import { randomUUID } from 'node:crypto';
import type { AfterAttempt, Attempt } from '@holdfast/access/webhook-delivery.js';
import { asId, type UserId, type WebhookId } from '@holdfast/core/model/ids.js';
import { aHeartbeat } from '@holdfast/testkit/builders.js';
import type { StoreUnderTest } from '@holdfast/testkit/store-under-test.js';
import type pg from 'pg';
import { evaluateAlerts } from '../src/alerts/evaluate-alerts.js';
import { countSilences } from '../src/queries/alerts.js';
import { createWebhook, findWebhook } from '../src/queries/webhooks.js';
import { type Scope, transaction } from '../src/sql/scope.js';
import { insertEvent } from '../src/store/events.js';
import {
  claimWebhook,
  type DueDelivery,
  dueWebhooks,
  nextDelivery,
  recordAttempt,
  releaseWebhook,
} from '../src/webhooks/deliveries.js';

const ANSWERED: Attempt = { kind: 'answered', status: 200 };

/** A webhook of three events: one is delivered, one is tried again, and with the third the webhook is disabled. */
export async function deliverToWebhook(scope: Scope, { tenant }: StoreUnderTest): Promise<void> {
  const id = asId<WebhookId>(randomUUID());
  const { clusterId, organizationId } = tenant;
  await transaction(scope, async (sql) => {
    const webhook = { id, name: 'told', url: 'https://example.test/', filter: '', organizationId };
    await createWebhook(
      sql,
      { ...webhook, createdAt: new Date(), madeBy: asId<UserId>(randomUUID()) },
      { id: randomUUID(), secret: 'whsec_test' },
    );
    await findWebhook(sql, id);
  });
  const subject = { kind: 'cluster', id: clusterId } as const;
  const event = {
    clusterId,
    type: 'DatabaseRestored',
    subject,
    volumeId: undefined,
    at: new Date(),
  } as const;
  for (const message of ['one', 'two', 'three'])
    await transaction(scope, (sql) => insertEvent(sql, { ...event, message }));
  await dueWebhooks(scope, 10);
  const claimed = await claimWebhook(scope, id, randomUUID());
  if (claimed === undefined) throw new Error('the webhook was not claimed');
  const outcomes: AfterAttempt[] = [
    { kind: 'delivered' },
    { kind: 'retry', afterMs: 0, why: 'it answered with 500' },
    { kind: 'disable', why: 'it has failed for days' },
  ];
  for (const after of outcomes) {
    const delivery: DueDelivery | undefined = await nextDelivery(scope, claimed);
    if (delivery === undefined) throw new Error('no delivery is due');
    await recordAttempt(scope, claimed, delivery, { attempt: ANSWERED, after });
  }
  await releaseWebhook(scope, claimed);
}

/** A node falls silent, is renamed meanwhile, and comes back. */
export async function evaluateSilentNode(
  scope: Scope,
  owner: pg.Client,
  { store, tenant }: StoreUnderTest,
): Promise<void> {
  const { nodeId } = await store.recordHeartbeat(tenant.clusterId, aHeartbeat('node-silent'));
  const evaluate = () =>
    evaluateAlerts(scope, new Date(), (error) => {
      throw error;
    });
  const set = (status: string) =>
    owner.query('UPDATE node SET conditions = $2 WHERE id = $1', [
      nodeId,
      JSON.stringify([{ type: 'Ready', status, reason: '', message: '', lastTransitionAt: new Date(0) }]),
    ]);
  await set('False');
  await evaluate();
  await owner.query(`UPDATE node SET name = 'node-renamed' WHERE id = $1`, [nodeId]);
  await evaluate();
  await set('True');
  await evaluate();
  await transaction(scope, async (sql) => {
    await countSilences(sql, tenant.clusterId, new Date());
  });
}
