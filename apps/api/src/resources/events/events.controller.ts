import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { type EventSource, listEvents } from '@holdfast/database/queries/events.js';
import { type BeforeApplicationShutdown, Controller, Get, Headers, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentTenant } from '../../access/caller.js';
import { contentTypeOf, exportLines, requireExportable } from '../../access/export-lines.js';
import { Route } from '../../access/route.decorator.js';
import type { Tenant } from '../../access/tenant.js';
import { ListQuery, pageView } from '../../http/schemas.js';
import { ClusterPath } from '../clusters/cluster.schemas.js';
import { requireUsableCluster } from '../clusters/require-cluster.js';
import { beginEventStream, writeBounded } from './bounded-response.js';
import { collectingSink } from './collect-changes.js';
import { EventExportQuery, EventPage, eventView, StreamQuery } from './event.schemas.js';
import type { StreamSink } from './event-stream.js';
import { EventStreams } from './event-streams.js';
import { eventExport } from './export-events.js';
import { OpenStreams } from './open-streams.js';

@Controller('api/v1')
export class EventsController implements BeforeApplicationShutdown {
  constructor(
    private readonly opening: EventStreams,
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

  @Get('clusters/:clusterId/events/export')
  @Route({
    access: 'event:read',
    summary: 'Export events, oldest first, as a stream of lines',
    produces: ['application/x-ndjson', 'text/csv'],
    refuses: ['cluster.not_found'],
  })
  async export(
    @CurrentTenant() tenant: Tenant,
    @Param() { clusterId }: ClusterPath,
    @Query() query: EventExportQuery,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await tenant.read((sql) => requireUsableCluster(sql, clusterId));
    const exported = eventExport(clusterId);
    await requireExportable(tenant, exported, query);
    void reply.type(contentTypeOf(query)).send(Readable.from(exportLines(tenant, exported, query)));
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
    @Query() query: StreamQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.follow(tenant, { ...query, clusterId }, lastEventId, reply);
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
    @Query() query: StreamQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.follow(tenant, { ...query, clusterId: undefined }, lastEventId, reply);
  }

  private async follow(
    tenant: Tenant,
    { as, ...source }: EventSource & Pick<StreamQuery, 'as'>,
    lastEventId: string | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    // HEAD: the stream would stay open for a client that reads nothing of it.
    if (reply.request.method === 'HEAD') return void reply.type('text/event-stream').send();
    const end = await this.opening.open(tenant, { source, lastEventId }, () => {
      const response = beginEventStream(reply);
      response.write('retry: 1000\n\n');
      return as === 'ids' ? idsSink(response) : eventSourceSink(response, source.clusterId === undefined);
    });
    reply.raw.once('close', end);
  }

  beforeApplicationShutdown(): void {
    this.streams.closeAll();
  }
}

/** Sink that sends ids of changed resources only. */
function idsSink(response: ServerResponse): StreamSink {
  const write = (text: string) => writeBounded(response, `${text}\n\n`);
  return collectingSink({
    ids: (changed) => write(`event: ids\ndata: ${JSON.stringify(changed)}`),
    gap: () => write('event: gap\ndata: {}'),
    keepAlive: () => write(': still here'),
    end: () => void response.end(),
  });
}

/**
 * Messages as browsers read them. `event: event` has an id and can be resumed from it, the others have none.
 *
 * @param namesCluster adds the cluster's id to changes
 */
function eventSourceSink(response: ServerResponse, namesCluster: boolean): StreamSink {
  const write = (text: string) => writeBounded(response, `${text}\n\n`);
  return {
    event: (view) => write(`id: ${view.id}\nevent: event\ndata: ${JSON.stringify(view)}`),
    change: ({ clusterId, subject }) =>
      write(`event: change\ndata: ${JSON.stringify(namesCluster ? { clusterId, subject } : { subject })}`),
    gap: () => write('event: gap\ndata: {}'),
    keepAlive: () => write(': still here'),
    end: () => void response.end(),
  };
}
