/** Opens event streams, of REST and of GraphQL alike: whom they are for, where they begin, how many there may be. */
import { assertEventFilter, type EventSource } from '@holdfast/database/queries/events.js';
import { Injectable } from '@nestjs/common';
import type { Tenant } from '../../access/tenant.js';
import { requireUsableCluster } from '../clusters/require-cluster.js';
import { EventStream, type StreamSink, startOfStream } from './event-stream.js';
import { LiveChanges } from './live-changes.js';
import { OpenStreams } from './open-streams.js';

export type StreamRequest = {
  readonly source: EventSource;
  /** The client's last event; left out: starts now. */
  readonly lastEventId: string | undefined;
};

@Injectable()
export class EventStreams {
  constructor(
    private readonly changes: LiveChanges,
    private readonly streams: OpenStreams,
  ) {}

  /**
   * @param begin called when the stream is admitted
   * @returns ends the stream, for when its reader has disconnected
   */
  async open(
    tenant: Tenant,
    { source, lastEventId }: StreamRequest,
    begin: () => StreamSink,
  ): Promise<() => void> {
    const owner = tenant.actor;
    this.streams.assertRoom(owner);
    const { clusterId } = source;
    if (clusterId !== undefined) await tenant.read((sql) => requireUsableCluster(sql, clusterId));
    assertEventFilter(source.filter);
    await this.changes.following();
    const start = await startOfStream(tenant, clusterId, lastEventId);
    // Checked again: others may have opened streams meanwhile, and nothing is awaited from here on.
    this.streams.assertRoom(owner);
    const stream = new EventStream(tenant, source, start, begin(), this.changes);
    this.streams.add(owner, stream);
    return () => {
      stream.close();
      this.streams.remove(owner, stream);
    };
  }
}
