import { Listener } from '@holdfast/database/sql/listener.js';
import { EVENT_CHANNEL } from '@holdfast/database/store/events.js';
import { CHANGE_CHANNEL } from '@holdfast/database/store/wake-up-set.js';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.js';
import { CONFIG, LOGGER } from '../../http/tokens.js';

/** A change: new events, or a resource to read again. */
export type LiveChange =
  | { events: true }
  | {
      events: false;
      /** Its organization: a cluster may hold volumes of organizations that it was granted to. */
      organizationId: string;
      clusterId: string;
      subject: { kind: string; id: string };
    };
/** A connection takes milliseconds; a client that waits longer would rather see what can be read. */
const FOLLOWING_MS_MAX = 2_000;

type Subscriber = (change: LiveChange) => void;

/**
 * One database connection listens for the whole process, and notifies subscribers of the changed cluster.
 *
 * A notification lost while the connection is down does no harm: after each reconnect all subscribers read again, and streams read by
 * position.
 */
@Injectable()
export class LiveChanges implements OnApplicationShutdown {
  private readonly subscribers = new Map<string, Set<Subscriber>>();
  private readonly whenConnected: (() => void)[] = [];
  private listener: Listener | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Follows one cluster, or all of an organization, until the returned function is called. The first subscriber opens the
   * connection.
   *
   * @param key id of the cluster or of the organization
   */
  subscribe(key: string, subscriber: Subscriber): () => void {
    this.listener ??= this.listen();
    const ofKey = this.subscribers.get(key) ?? new Set<Subscriber>();
    this.subscribers.set(key, ofKey.add(subscriber));
    return () => {
      ofKey.delete(subscriber);
      if (ofKey.size === 0) this.subscribers.delete(key);
    };
  }

  /**
   * Resolves once notifications arrive, so that no later change is missed. While the database does not take the connection it resolves
   * after a moment: streams then begin by what they read.
   */
  async following(): Promise<void> {
    this.listener ??= this.listen();
    if (this.listener.isConnected) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, FOLLOWING_MS_MAX);
      this.whenConnected.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.listener?.stop();
  }

  private listen(): Listener {
    return new Listener({
      url: this.config.databaseUrl,
      applicationName: 'holdfast-api-live',
      channels: [EVENT_CHANNEL, CHANGE_CHANNEL],
      onNotification: (channel, payload) => this.dispatch(channel, payload),
      onConnected: () => {
        for (const call of this.whenConnected.splice(0)) call();
        for (const key of this.subscribers.keys()) this.tell(key, { events: true });
      },
      onTrouble: (error) =>
        this.logger.warn({ err: error }, 'the connection that listens for changes failed'),
    });
  }

  /** Payloads: `<organization> <cluster>` of events, `<organization> <cluster> <kind> <id>` of changes. */
  private dispatch(channel: string, payload: string): void {
    const [organizationId, clusterId, kind, id] = payload.split(' ');
    if (organizationId === undefined || clusterId === undefined) return;
    for (const key of [clusterId, organizationId]) {
      if (channel === EVENT_CHANNEL) this.tell(key, { events: true });
      else if (kind !== undefined && id !== undefined)
        this.tell(key, { events: false, organizationId, clusterId, subject: { kind, id } });
    }
  }

  private tell(key: string, change: LiveChange): void {
    for (const subscriber of this.subscribers.get(key) ?? []) subscriber(change);
  }
}
