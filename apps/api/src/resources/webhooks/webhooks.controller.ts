import { randomBytes } from 'node:crypto';
import { assertVersion } from '@holdfast/control/use-cases/use-case.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type WebhookId } from '@holdfast/core/model/ids.js';
import { systemRandom } from '@holdfast/database/clock-and-random.js';
import {
  assertEventFilter,
  changeWebhook,
  countWebhooks,
  createWebhook,
  deleteWebhook,
  findWebhook,
  listWebhooks,
  rotateSecret,
  skipBacklog,
  type WebhookRow,
} from '@holdfast/database/queries/webhooks.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { refusalOfReceiverUrl } from '@holdfast/identity/receiver-address.js';
import { Body, Controller, Delete, Get, Inject, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { holdRight } from '../../access/hold-right.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import type { Config } from '../../config/config.js';
import { IfMatch, tagged } from '../../http/request.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { CONFIG } from '../../http/tokens.js';
import {
  CreateWebhookBody,
  NewWebhookDto,
  PatchWebhookBody,
  RotateWebhookSecretBody,
  WebhookDto,
  WebhookPage,
  WebhookPath,
  WebhookSecretDto,
  webhookView,
} from './webhook.schemas.js';

const WEBHOOKS_MAX = 50;
/** Length of the signing hash, in bytes. */
const SECRET_BYTES = 32;
const HOUR_MS = 3_600_000;

@Controller('api/v1/webhooks')
export class WebhooksController {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  @Get()
  @Route({ access: 'webhook:read', summary: 'List webhooks', answer: WebhookPage })
  async list(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listWebhooks(sql, query)), webhookView);
  }

  @Post()
  @Route({
    access: 'webhook:write',
    summary: 'Create a webhook: events of all clusters are sent to it from now on',
    answer: NewWebhookDto,
    status: 201,
    answersSecret: true,
    refuses: ['webhook.too_many', 'idempotency.secret_not_kept'],
  })
  async create(
    @CurrentTenant() tenant: Tenant,
    @Body() body: CreateWebhookBody,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    assertEventFilter(body.filter);
    this.assertReceiver(body.url);
    const { organizationId } = tenant.actor;
    const id = asId<WebhookId>(tenant.newId());
    const secret = newSecret();
    const made = await tenant.write(async (sql) => {
      if ((await countWebhooks(sql, organizationId)) >= WEBHOOKS_MAX) throw tooMany();
      await holdRight(sql, tenant, 'webhook');
      const made = { ...body, id, organizationId, createdAt: tenant.now, madeBy: tenant.actor.userId };
      await createWebhook(sql, made, secret);
      return requireWebhook(sql, id);
    });
    return tagged(reply, { ...webhookView(made), secret: secret.secret });
  }

  @Get(':webhookId')
  @Route({
    access: 'webhook:read',
    summary: 'Read a webhook',
    answer: WebhookDto,
    refuses: ['webhook.not_found'],
  })
  async get(
    @CurrentTenant() tenant: Tenant,
    @Param() { webhookId }: WebhookPath,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return tagged(reply, webhookView(await tenant.read((sql) => requireWebhook(sql, webhookId))));
  }

  @Patch(':webhookId')
  @Route({
    access: 'webhook:write',
    summary: 'Change a webhook; waiting deliveries are tried at once',
    answer: WebhookDto,
    refuses: ['webhook.not_found'],
  })
  async patch(
    @CurrentTenant() tenant: Tenant,
    @Param() { webhookId: id }: WebhookPath,
    @Body() { skipBacklog: skips, ...body }: PatchWebhookBody,
    @IfMatch() ifVersion: number | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    if (body.filter !== undefined) assertEventFilter(body.filter);
    if (body.url !== undefined) this.assertReceiver(body.url);
    const change = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
    const changed = await tenant.write(async (sql) => {
      const { version } = await requireWebhook(sql, id);
      assertVersion(version, ifVersion);
      if (skips) await skipBacklog(sql, id);
      await holdRight(sql, tenant, 'webhook');
      await changeWebhook(sql, { id, fromVersion: version }, { ...change, madeBy: tenant.actor.userId });
      return requireWebhook(sql, id);
    });
    return tagged(reply, webhookView(changed));
  }

  @Delete(':webhookId')
  @Route({
    access: 'webhook:write',
    summary: 'Delete a webhook, with the log of its deliveries',
    status: 204,
    refuses: ['webhook.not_found'],
  })
  async delete(
    @CurrentTenant() tenant: Tenant,
    @Param() { webhookId }: WebhookPath,
    @IfMatch() ifVersion: number | undefined,
  ): Promise<void> {
    await tenant.write(async (sql) => {
      assertVersion((await requireWebhook(sql, webhookId)).version, ifVersion);
      await deleteWebhook(sql, webhookId);
    });
  }

  @Post(':webhookId/rotate-secret')
  @Route({
    access: 'webhook:write',
    summary: "Rotate a webhook's secret; the previous one signs too for a while",
    answer: WebhookSecretDto,
    status: 201,
    answersSecret: true,
    refuses: ['webhook.not_found', 'idempotency.secret_not_kept'],
  })
  async rotateSecret(
    @CurrentTenant() tenant: Tenant,
    @Param() { webhookId }: WebhookPath,
    @Body() { overlapHours }: RotateWebhookSecretBody,
  ) {
    const { now } = tenant;
    const overlapUntil = new Date(now.getTime() + overlapHours * HOUR_MS);
    const secret = newSecret();
    await tenant.write(async (sql) => {
      await requireWebhook(sql, webhookId);
      const { organizationId } = tenant.actor;
      await rotateSecret(sql, { id: webhookId, organizationId }, { secret, now, overlapUntil });
    });
    return { secret: secret.secret, previousValidUntil: overlapUntil.toISOString() };
  }

  /** The name's addresses are checked at each delivery. */
  private assertReceiver(url: string): void {
    const detail = refusalOfReceiverUrl(url, this.config.webhookNetworks ?? []);
    if (detail === undefined) return;
    throw new StorageFault('request.invalid', {
      publicMessage: `a webhook can not be sent to ${url}: ${detail}`,
      errors: [{ pointer: '/url', detail }],
      cures: ['have the operator name its network in HOLDFAST_WEBHOOK_NETWORKS'],
    });
  }
}

export async function requireWebhook(sql: Sql, id: WebhookId): Promise<WebhookRow> {
  const found = await findWebhook(sql, id);
  if (found !== undefined) return found;
  throw new StorageFault('webhook.not_found', { publicMessage: `there is no webhook ${id}` });
}

function newSecret(): { id: string; secret: string } {
  return { id: systemRandom.id(), secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}` };
}

function tooMany(): StorageFault {
  return new StorageFault('webhook.too_many', {
    publicMessage: `the organization has ${WEBHOOKS_MAX} webhooks, which is as many as it may have`,
    cures: ['delete one that is not needed'],
  });
}
