import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const RECONNECT_PAUSE_MS = 500;
/** Without this a Postgres that takes a connection and says nothing would be waited for after another one has taken its place. */
const CONNECT_MS_MAX = 5_000;
const KEEP_ALIVE_MS = 10_000;

export type ListenerOptions = {
  url: string;
  applicationName: string;
  channels: readonly string[];
  /** Advisory lock that the connection holds, and loses with it: it shows others whether this process lives. */
  lock?: string;
  onNotification: (channel: string, payload: string) => void;
  /** After each connect: notifications sent while disconnected are lost, so a subscriber that relies on them reads again. */
  onConnected: () => void;
  onTrouble: (error: unknown) => void;
};

/** A connection that receives Postgres notifications (NOTIFY), and reconnects when it is cut. */
export class Listener {
  private client: pg.Client | undefined;
  private stopped = false;
  private connected = false;
  private readonly running: Promise<void>;

  constructor(private readonly options: ListenerOptions) {
    this.running = this.run();
  }

  get isConnected(): boolean {
    return this.connected;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.client?.end();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      try {
        await this.listenUntilCut();
      } catch (error) {
        this.options.onTrouble(error);
      }
      this.client = undefined;
      this.connected = false;
      if (!this.stopped) await delay(RECONNECT_PAUSE_MS);
    }
  }

  private async listenUntilCut(): Promise<void> {
    const { url, applicationName, channels, lock, onNotification, onConnected, onTrouble } = this.options;
    const client = new pg.Client({
      connectionString: url,
      application_name: applicationName,
      // A connection that only listens or holds a lock would not notice that the other side is gone.
      keepAlive: true,
      // The kernel's own pause is two hours.
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      connectionTimeoutMillis: CONNECT_MS_MAX,
    });
    this.client = client;
    const ended = new Promise<void>((resolve) => client.once('end', () => resolve()));
    client.on('error', onTrouble);
    client.on('notification', ({ channel, payload }) => onNotification(channel, payload ?? ''));
    // A client that is ended while it connects never says how that went, only that it has ended.
    await Promise.race([client.connect(), ended]);
    if (this.stopped) return;
    // Identifiers of ours, never of a user's.
    await client.query(channels.map((channel) => `LISTEN ${channel}`).join('; '));
    if (lock !== undefined) await client.query('SELECT pg_advisory_lock($1)', [lock]);
    this.connected = true;
    onConnected();
    await ended;
  }
}
