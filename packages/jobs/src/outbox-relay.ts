/**
 * Outbox relay: turns outbox rows into jobs.
 *
 * Crash behaviour: rows are deleted only when their jobs are in the queue, so a relay that dies leaves them for the next one, and
 * some jobs are added twice, which the queue merges. Several relays may run at once.
 */
import type { Outbox } from '@holdfast/control/ports/outbox.js';
import type { Queue } from '@holdfast/control/ports/queue.js';

/** Rows per transaction: enough for a burst, few enough that a crash repeats little. */
const BATCH = 200;
/** Interval of the poll, which bounds how late a row is noticed: a notification is lost when its connection is. */
const POLL_MS = 1_000;

export class OutboxRelay {
  private timer: NodeJS.Timeout | undefined;
  private listening: { close(): Promise<void> } | undefined;
  private draining: Promise<void> = Promise.resolve();
  private wanted = false;
  private stopped = false;

  constructor(
    private readonly outbox: Outbox,
    private readonly queue: Queue,
    private readonly onError: (error: unknown) => void,
  ) {}

  async start(): Promise<void> {
    this.listening = await this.outbox.listen(() => this.drainSoon());
    this.timer = setInterval(() => this.drainSoon(), POLL_MS);
    this.drainSoon();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.listening?.close();
    await this.draining;
  }

  /** Drains the outbox once more after the drain that is running; calls made meanwhile share that one. */
  private drainSoon(): void {
    if (this.wanted || this.stopped) return;
    this.wanted = true;
    this.draining = this.draining.then(() => {
      this.wanted = false;
      return this.drain().catch(this.onError);
    });
  }

  private async drain(): Promise<void> {
    let handed = BATCH;
    while (handed === BATCH && !this.stopped) {
      handed = await this.outbox.drain(BATCH, async (wakeUps) => {
        await Promise.all(wakeUps.map((wakeUp) => this.queue.wake(wakeUp)));
      });
    }
  }
}
