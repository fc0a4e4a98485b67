/** Calls about webhooks and their deliveries, and about grants of clusters. */
import type { Schema } from '@holdfast/api-client/client.js';
import { ask, askAll, askDone, CLUSTER, client } from './client';

export type Webhook = Schema<'Webhook'>;
export type Delivery = Schema<'WebhookDelivery'>;
export type Grant = Schema<'Grant'>;
export type ReceivedGrant = Schema<'ReceivedGrant'>;

const WEBHOOK = '/api/v1/webhooks/{webhookId}' as const;
const DELIVERIES_PER_PAGE = 50;

export const webhooksApi = {
  webhooks: () => askAll((query) => client.GET('/api/v1/webhooks', { params: { query } })),
  webhook: (webhookId: string) => ask(client.GET(WEBHOOK, { params: { path: { webhookId } } })),
  create: (body: { name: string; url: string; filter: string }) =>
    ask(client.POST('/api/v1/webhooks', { body })),
  change: (webhookId: string, body: { isEnabled?: boolean }) =>
    ask(client.PATCH(WEBHOOK, { params: { path: { webhookId } }, body })),
  remove: (webhookId: string) => askDone(client.DELETE(WEBHOOK, { params: { path: { webhookId } } })),
  rotateSecret: (webhookId: string) =>
    ask(client.POST(`${WEBHOOK}/rotate-secret`, { params: { path: { webhookId } }, body: {} })),
  deliveryPage: (webhookId: string, cursor: string | undefined) =>
    ask(
      client.GET(`${WEBHOOK}/deliveries`, {
        params: {
          path: { webhookId },
          query: { limit: DELIVERIES_PER_PAGE, ...(cursor === undefined ? {} : { cursor }) },
        },
      }),
    ),
  redeliver: (webhookId: string, deliveryId: string) =>
    ask(
      client.POST(`${WEBHOOK}/deliveries/{deliveryId}/redeliver`, {
        params: { path: { webhookId, deliveryId } },
      }),
    ),

  grants: (clusterId: string) =>
    askAll((query) => client.GET(`${CLUSTER}/grants`, { params: { path: { clusterId }, query } })),
  receivedGrants: () => askAll((query) => client.GET('/api/v1/grants', { params: { query } })),
  createGrant: (
    clusterId: string,
    body: { organizationId: string; provisionedBytes: number | null; volumes: number | null },
  ) => ask(client.POST(`${CLUSTER}/grants`, { params: { path: { clusterId } }, body })),
  endGrant: (clusterId: string, grantId: string) =>
    askDone(client.DELETE(`${CLUSTER}/grants/{grantId}`, { params: { path: { clusterId, grantId } } })),
};
