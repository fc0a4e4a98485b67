import { listEvents } from '@holdfast/database/queries/events.js';
import { Controller, Get, Headers, type OnApplicationShutdown, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { requireCluster } from '../clusters/require-cluster.js';
import { CurrentTenant } from '../platform/request.js';
import { Route } from '../platform/route.decorator.js';
import { ListQuery, pageView } from '../platform/schemas.js';
import type { Tenant } from '../platform/tenant.js';
import { EventPage, eventView } from './event.schemas.js';
import { EventStream, startOfStream } from './event-stream.js';
import { LiveChanges } from './live-changes.js';

@Controller('api/v1/clusters/:clusterId/events')
export class EventsController implements OnApplicationShutdown {
  private readonly streams = new Set<EventStream>();

  constructor(private readonly changes: LiveChanges) {}

  @Get()
  @Route({
    access: 'event:read',
    summary: 'List events, newest first',
    answer: EventPage,
    refuses: ['cluster.not_found'],
  })
  list(@CurrentTenant() tenant: Tenant, @Param() { clusterId }: ClusterPath, @Query() query: ListQuery) {
    return tenant.read(async (sql) => {
      await requireCluster(sql, clusterId);
      const page = await listEvents(sql, clusterId, query);
      return pageView(page, eventView);
    });
  }

  @Get('stream')
  @Route({
    access: 'event:read',
    summary: 'Follow events and changes as they happen',
    produces: 'text/event-stream',
    refuses: ['cluster.not_found', 'request.invalid'],
  })
  async stream(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await tenant.read((sql) => requireCluster(sql, clusterId));
    const start = await startOfStream(tenant, clusterId, lastEventId);
    reply.hijack();
    reply.raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      // Proxies must pass each event on at once.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': reply.request.id,
    });
    reply.raw.write('retry: 1000\n\n');
    const stream = new EventStream(tenant, clusterId, start, reply.raw, this.changes);
    this.streams.add(stream);
    reply.raw.once('close', () => this.streams.delete(stream));
  }

  /** Ends the streams: clients keep them open, and a stopping server waits for its connections. */
  beforeApplicationShutdown(): void {
    for (const stream of this.streams) stream.close();
  }

  onApplicationShutdown(): void {
    this.streams.clear();
  }
}
