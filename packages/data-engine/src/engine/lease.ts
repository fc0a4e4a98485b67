/**
 * Read lease of an engine: how long it may answer reads without hearing from its copies (docs/adr/0136-read-lease.md).
 *
 * An engine that takes over first fences at least half of the members. So as long as more than half of them have
 * recently answered this engine, no takeover is older than their oldest answer; without such a majority, reads wait.
 * The time of sending counts, by this process's own clock: a process that was paused finds its lease expired.
 */
import type { Time } from '../base/time.js';
import type { ReplicaLink } from './replica-link.js';

/** Fraction of the timeout after which a silent member is pinged. */
const PING_PART = 4;

export type LeasePorts = {
  /** The links of the record's members; `undefined` for a member without a connection. */
  members: () => readonly (ReplicaLink | undefined)[];
  /** May change while the engine serves. */
  timeoutMs: () => number;
  time: Time;
  failed: (link: ReplicaLink, error: unknown) => void;
};

export class Lease {
  /** Cached expiry; the members may not have changed since. */
  private untilMs = Number.NEGATIVE_INFINITY;
  private readonly asked = new WeakSet<object>();
  private news: { promise: Promise<void>; resolve: () => void } | undefined;

  constructor(private readonly ports: LeasePorts) {}

  get isValid(): boolean {
    const nowMs = this.ports.time.nowMs();
    if (nowMs < this.untilMs) return true;
    this.untilMs = this.expiresAtMs();
    return nowMs < this.untilMs;
  }

  /** Membership or the copies in use have changed: waiting reads check again. */
  changed(): void {
    this.untilMs = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  /** Pings the members that were not heard lately, and resolves when the lease has to be checked again. */
  renewed(): Promise<void> {
    if (this.news === undefined) {
      let resolve: () => void = () => undefined;
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.news = { promise, resolve };
    }
    const { promise } = this.news;
    this.tick(this.ports.time.nowMs());
    return promise;
  }

  tick(nowMs: number): void {
    for (const link of this.ports.members()) {
      if (link === undefined || link.lost !== undefined || link.mode === 'ERR') continue;
      const { client } = link;
      if (this.asked.has(client) || nowMs - client.heardAtMs < this.ports.timeoutMs() / PING_PART) continue;
      this.asked.add(client);
      client.ping().then(
        () => this.answered(client),
        (error: unknown) => {
          this.answered(client);
          this.ports.failed(link, error);
        },
      );
    }
  }

  private answered(client: object): void {
    this.asked.delete(client);
    this.wake();
  }

  private wake(): void {
    const { news } = this;
    this.news = undefined;
    news?.resolve();
  }

  /** The time at which the lease ends: when no majority of the members was heard within the timeout. */
  private expiresAtMs(): number {
    const heardMs = this.ports
      .members()
      .map((link) =>
        link === undefined || link.mode === 'ERR' ? Number.NEGATIVE_INFINITY : link.client.heardAtMs,
      )
      .sort((a, b) => b - a);
    return (heardMs[Math.floor(heardMs.length / 2)] ?? Number.NEGATIVE_INFINITY) + this.ports.timeoutMs();
  }
}
