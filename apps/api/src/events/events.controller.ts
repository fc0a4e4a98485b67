import { assertEventFilter, type EventSource, listEvents } from '@holdfast/database/queries/events.js';
import { type BeforeApplicationShutdown, Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { requireUsableCluster } from '../clusters/require-cluster.js';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { ListQuery, pageView } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { EventPage, eventView, StreamQuery } from './event.schemas.js';
import { EventStream, startOfStream } from './event-stream.js';
import { LiveChanges } from './live-changes.js';
import { OpenStreams } from './open-streams.js';

@Controller('api/v1')
export class EventsController implements BeforeApplicationShutdown {
  constructor(
    private readonly changes: LiveChanges,
    private readonly streams: OpenStreams,
  ) {}

  @Get('clusters/:clusterId/events')
  @Route({
    access: 'event:read',
    summary: 'List events, newest first',
    answer: EventPage,
    refuses: ['cluster.not_found'],
  })
  list(@CurrentTenant() tenant: Tenant, @Param() { clusterId }: ClusterPath, @Query() query: ListQuery) {
    return tenant.read(async (sql) => {
      await requireUsableCluster(sql, clusterId);
      const page = await listEvents(sql, clusterId, query);
      return pageView(page, eventView);
    });
  }

  @Get('events')
  @Route({
    access: 'event:read',
    summary: 'List events of all clusters, newest first',
    answer: EventPage,
  })
  async listAll(@CurrentTenant() tenant: Tenant, @Query() query: ListQuery) {
    return pageView(await tenant.read((sql) => listEvents(sql, undefined, query)), eventView);
  }

  @Get('clusters/:clusterId/events/stream')
  @Route({
    access: 'event:read',
    summary: 'Follow events and changes as they happen',
    produces: ['text/event-stream'],
    refuses: ['cluster.not_found', 'request.invalid', 'request.rate_limited'],
  })
  async stream(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() { filter }: StreamQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.streams.assertRoom(tenant.actor);
    await tenant.read((sql) => requireUsableCluster(sql, clusterId));
    await this.follow(tenant, { clusterId, filter }, lastEventId, reply);
  }

  @Get('events/stream')
  @Route({
    access: 'event:read',
    summary: 'Follow events and changes of all clusters as they happen',
    produces: ['text/event-stream'],
    refuses: ['request.invalid', 'request.rate_limited'],
  })
  async streamAll(
    @CurrentTenant() tenant: Tenant,
    @Query() { filter }: StreamQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.streams.assertRoom(tenant.actor);
    await this.follow(tenant, { clusterId: undefined, filter }, lastEventId, reply);
  }

  private async follow(
    tenant: Tenant,
    source: EventSource,
    lastEventId: string | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    const owner = tenant.actor;
    assertEventFilter(source.filter);
    const start = await startOfStream(tenant, source.clusterId, lastEventId);
    // Once more: others may have opened theirs meanwhile, and from here on nothing waits.
    this.streams.assertRoom(owner);
    reply.hijack();
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies must pass each event on at once.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      // Nothing else comes on it once the stream has ended, and a stopping server waits for open connections.
      connection: 'close',
      'x-request-id': reply.request.id,
    });
    reply.raw.write('retry: 1000\n\n');
    const stream = new EventStream(tenant, source, start, reply.raw, this.changes);
    this.streams.add(owner, stream);
    reply.raw.once('close', () => this.streams.remove(owner, stream));
  }

  beforeApplicationShutdown(): void {
    this.streams.closeAll();
  }
}
