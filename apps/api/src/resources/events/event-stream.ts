import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import {
  currentEventPosition,
  type EventPosition,
  type EventSource,
  isEventKept,
  readEventsAfter,
} from '@holdfast/database/queries/events.js';
import type { Tenant } from '../../access/tenant.js';
import { type EventView, eventView } from './event.schemas.js';
import type { LiveChange, LiveChanges } from './live-changes.js';

/** Proxies and browsers give up on a silent connection; half of the usual 30 s. */
const KEEP_ALIVE_MS = 15_000;
/** Wait for earlier transactions that still run: their events precede the ones at hand. */
const UNFINISHED_PAUSE_MS = 50;
const EVENTS_PER_READ = 200;

type ChangeOfResource = Extract<LiveChange, { events: false }>;

/** A resource that changed: a hint to read it again. */
export type ChangedResource = { clusterId: string; subject: { kind: string; id: string } };

/** Sink of a stream's messages: the format and the bounds of one connection. */
export type StreamSink = {
  /** Sends an event; a stream can be resumed from its id. */
  event(view: EventView): void;
  change(changed: ChangedResource): void;
  /** Reports a gap: events after the client's last one have been deleted. */
  gap(): void;
  /** Sends an SSE comment so that proxies keep an idle connection. */
  keepAlive(): void;
  /** Ends the stream; no message follows. */
  end(): void;
};

/**
 * Sends one client the events of a cluster, or of all, in an order in which none appears late, and the resources that changed in between.
 */
export class EventStream {
  private closed = false;
  private reading = false;
  private dirty = false;
  private readonly keepAlive: NodeJS.Timeout;
  private readonly unsubscribe: () => void;
  private position: EventPosition;

  constructor(
    private readonly tenant: Tenant,
    private readonly source: EventSource,
    start: StreamStart,
    private readonly sink: StreamSink,
    changes: LiveChanges,
  ) {
    this.position = start.position;
    if (start.hasGap) this.sink.gap();
    const key = source.clusterId ?? tenant.actor.organizationId;
    this.unsubscribe = changes.subscribe(key, (change) => this.onChange(change));
    this.keepAlive = setInterval(() => this.sink.keepAlive(), KEEP_ALIVE_MS);
    this.wake();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    clearInterval(this.keepAlive);
    this.unsubscribe();
    this.sink.end();
  }

  private onChange(change: LiveChange): void {
    if (change.events) {
      this.wake();
      return;
    }
    // A reader with a filter gets matching events only.
    if (this.source.filter !== '' || !this.maySee(change)) return;
    const { subject, clusterId } = change;
    this.sink.change({ clusterId, subject });
  }

  /**
   * A change reveals an id, which may be of a project or a cluster that the user does not see, or of another organization: the owner of a
   * granted cluster and its grantees follow the same cluster.
   */
  private maySee({ organizationId, clusterId }: ChangeOfResource): boolean {
    const { limits, organizationId: own } = this.tenant.actor;
    const isOfThem = limits.clusterIds === undefined || limits.clusterIds.some((id) => id === clusterId);
    return organizationId === own && this.tenant.projectIds === undefined && isOfThem;
  }

  /** Starts a read, or makes the running one do another round. */
  private wake(): void {
    this.dirty = true;
    if (this.reading || this.closed) return;
    this.reading = true;
    void this.readAll().finally(() => {
      this.reading = false;
    });
  }

  private async readAll(): Promise<void> {
    while (this.dirty && !this.closed) {
      this.dirty = false;
      try {
        const { events, position, more } = await this.tenant.read((sql) =>
          readEventsAfter(sql, this.source, this.position, EVENTS_PER_READ),
        );
        // Closed during the read: the end has been sent.
        if (this.closed) return;
        for (const event of events) this.sink.event(eventView(event));
        const isWaiting = more && isSame(position, this.position);
        this.position = position;
        if (isWaiting) setTimeout(() => this.wake(), UNFINISHED_PAUSE_MS).unref();
        else if (more) this.dirty = true;
      } catch {
        // The database is unreachable: the client reconnects with its last id and misses nothing.
        this.close();
      }
    }
  }
}

function isSame(one: EventPosition, other: EventPosition): boolean {
  return one.transactionId === other.transactionId && one.id === other.id;
}

export type StreamStart = {
  position: EventPosition;
  /** True when events after the position may have been deleted: the client has to read everything again. */
  hasGap: boolean;
};

/** Start of the stream: after the client's last event, or now. */
export async function startOfStream(
  tenant: Tenant,
  clusterId: ClusterId | undefined,
  lastEventId: string | undefined,
): Promise<StreamStart> {
  if (lastEventId === undefined || lastEventId === '') {
    return { position: await tenant.read(currentEventPosition), hasGap: false };
  }
  const match = /^(\d{1,16})-(\d{1,16})$/.exec(lastEventId);
  if (match === null) {
    throw new StorageFault('request.invalid', {
      publicMessage: 'Last-Event-ID is not the id of an event',
      errors: [{ pointer: 'Last-Event-ID', detail: 'is not the id of an event' }],
    });
  }
  const position = { transactionId: Number(match[1]), id: Number(match[2]) };
  const isKept = await tenant.read((sql) => isEventKept(sql, clusterId, position));
  return { position, hasGap: !isKept };
}
