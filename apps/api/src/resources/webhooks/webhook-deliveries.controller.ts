import { StorageFault } from '@holdfast/core/model/faults.js';
import type { DeliveryId, WebhookId } from '@holdfast/core/model/ids.js';
import {
  type DeliveryRow,
  findDelivery,
  listDeliveries,
  requestRedelivery,
} from '@holdfast/database/queries/webhooks.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { Controller, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentTenant } from '../../access/caller.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { DeliveryDto, DeliveryPage, DeliveryPath, deliveryView, WebhookPath } from './webhook.schemas.js';
import { requireWebhook } from './webhooks.controller.js';

@Controller('api/v1/webhooks/:webhookId/deliveries')
export class WebhookDeliveriesController {
  @Get()
  @Route({
    access: 'webhook:read',
    summary: 'List the deliveries of a webhook, sent and waiting',
    answer: DeliveryPage,
    refuses: ['webhook.not_found'],
  })
  async list(
    @CurrentTenant() tenant: Tenant,
    @Param() { webhookId }: WebhookPath,
    @Query() query: ListQuery,
  ) {
    const page = await tenant.read(async (sql) => {
      await requireWebhook(sql, webhookId);
      return listDeliveries(sql, webhookId, query);
    });
    return pageView(page, deliveryView);
  }

  @Get(':deliveryId')
  @Route({
    access: 'webhook:read',
    summary: 'Read a delivery',
    answer: DeliveryDto,
    refuses: ['webhook.not_found', 'delivery.not_found'],
  })
  async get(@CurrentTenant() tenant: Tenant, @Param() path: DeliveryPath) {
    return deliveryView(await tenant.read((sql) => requireDelivery(sql, path)));
  }

  @Post(':deliveryId/redeliver')
  @Route({
    access: 'webhook:write',
    summary: 'Repeat a delivery that was sent or given up',
    answer: DeliveryDto,
    status: 202,
    refuses: ['webhook.not_found', 'delivery.not_found', 'delivery.waiting'],
  })
  async redeliver(@CurrentTenant() tenant: Tenant, @Param() path: DeliveryPath) {
    const changed = await tenant.write(async (sql) => {
      await requireDelivery(sql, path);
      if (!(await requestRedelivery(sql, path, tenant.now))) throw waiting(path.deliveryId);
      return requireDelivery(sql, path);
    });
    return deliveryView(changed);
  }
}

type DeliveryKey = { webhookId: WebhookId; deliveryId: DeliveryId };

async function requireDelivery(sql: Sql, key: DeliveryKey): Promise<DeliveryRow> {
  await requireWebhook(sql, key.webhookId);
  const found = await findDelivery(sql, key);
  if (found !== undefined) return found;
  throw new StorageFault('delivery.not_found', { publicMessage: `there is no delivery ${key.deliveryId}` });
}

function waiting(id: DeliveryId): StorageFault {
  return new StorageFault('delivery.waiting', {
    publicMessage: `delivery ${id} waits to be sent already`,
    cures: ['wait for its next attempt', 'change or enable the webhook, which tries it at once'],
  });
}
