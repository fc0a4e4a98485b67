/**
 * How long an engine may answer reads without hearing from its copies (docs/adr/0136).
 *
 * Another engine that takes over fences at least half of the members first. So as long as more than half of them have
 * answered something that was sent lately, as their engine, a takeover is no older than that; without it reads wait. The
 * moment of sending counts, by this process's own clock: one that stood still finds its lease expired.
 */
import type { Time } from '../time.js';
import type { ReplicaLink } from './replica-link.js';

/** Copies that were not heard for this part of the timeout are asked for a sign of life. */
const PING_PART = 4;

export type LeasePorts = {
  /** Copies that are members of the record; undefined for a member without a connection. */
  members: () => readonly (ReplicaLink | undefined)[];
  timeoutMs: number;
  time: Time;
  failed: (link: ReplicaLink, error: unknown) => void;
};

export class Lease {
  /** What was found last; the members may not have changed since. */
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

  /** Other copies are members, or in use, than before: whoever waits looks again. */
  changed(): void {
    this.untilMs = Number.NEGATIVE_INFINITY;
    this.wake();
  }

  /** Asks the members that were not heard lately, and resolves when there is something new to look at. */
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
      if (this.asked.has(client) || nowMs - client.heardAtMs < this.ports.timeoutMs / PING_PART) continue;
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

  /** When more than half of the members will have been silent for too long. */
  private expiresAtMs(): number {
    const heardMs = this.ports
      .members()
      .map((link) =>
        link === undefined || link.mode === 'ERR' ? Number.NEGATIVE_INFINITY : link.client.heardAtMs,
      )
      .sort((a, b) => b - a);
    return (heardMs[Math.floor(heardMs.length / 2)] ?? Number.NEGATIVE_INFINITY) + this.ports.timeoutMs;
  }
}
